"""Words that say nothing by themselves, in the languages that are read: English, German and Spanish."""

from __future__ import annotations

from typing import Final

from memory.language.vocabulary import vocabulary
from memory.language.words import STOP

GERMAN: Final = vocabulary(
    "ab aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus außer bei beim "
    "bin bis bist bitte da dabei dafür dagegen daher dahin damit danach daneben dann daran darauf daraus darf darin "
    "darüber darum darunter das dass daß davon davor dazu dein deine deinem deinen deiner dem den denen denn "
    "dennoch der deren des deshalb dessen die dies diese diesem diesen dieser dieses doch dort du durch dürfen eben "
    "ein eine einem einen einer eines einfach einmal er erst es etwa etwas euch euer eure für gar gegen genau geht "
    "gibt gibts habe haben hab halt hast hat hatte hatten hätte her hier hin hinter ich ihm ihn ihnen ihr ihre "
    "ihrem ihren ihrer im immer in ins ist ja je jede jedem jeden jeder jedes jedoch jetzt kann kannst kein keine "
    "keinem keinen keiner können könnte machen mal man manche mehr mein meine meinem meinen meiner mich mir mit "
    "mittlerweile muss muß müssen nach nachdem nein nicht nichts nie nimmer noch nun nur ob oder ohne schon sehr "
    "sein seine seinem seinen seiner seit selber selbst sich sie sind so sobald soll sollen sollte sondern sonst "
    "soviel sowie statt über um und uns unser unsere unserem unseren unserer unter viel viele vom von vor wann war "
    "waren warum was weder weg wegen weil weiter welche welchem welchen welcher welches wenn wer werde werden wie "
    "wieder will willst wir wird wirst wo wobei wohin wollen worden wurde wurden würde zu zum zur zwar zwischen"
)
SPANISH: Final = vocabulary(
    "a acá ahí ahora al algo alguien algún alguna algunas alguno algunos allá allí ambos ante antes aquel aquella "
    "aquello aquí así aún aunque bajo bien cada casi como cómo con conmigo contra cosa cosas cual cuál cuales "
    "cualquier cuando cuándo cuanto cuántas cuántos de del dentro desde después donde dónde dos el él ella ellas "
    "ello ellos en entonces entre era eran eres es esa esas ese eso esos esta está estaba estamos están estar estoy "
    "estas este esto estos fue fuera fueron gracias ha había hace hacer hacia han has hasta hay he la las le les lo "
    "los luego más me mejor menos mi mí mientras mis mismo misma mucho mucha muchos muy nada nadie ni ningún ninguna "
    "ninguno no nos nosotros nuestra nuestro nunca o os otra otras otro otros para pero poco por porque pues puede "
    "pueden puedes que qué quien quién se sea sean según ser si sí sido siempre sin sino sobre sois solo sólo somos "
    "son soy su sus tal también tampoco tan tanto te tenemos tener tengo tiene tienen tienes todas todavía todo "
    "toda todos tras tu tú tus un una unas uno unos usted va vais vale vamos van vas vez veces y ya yo"
)
FUNCTION_WORDS: Final = STOP | GERMAN | SPANISH
"""All of them. A word is in it that is one in any of the languages: "die" is no topic of German talk."""
