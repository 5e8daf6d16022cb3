"""Words, stems and the stop list: the one way in which all of Palimpsest cuts text into words.

A *word* is lower case and NFKC-normalised. Identifiers are kept whole and cut into their parts, so that
`getUserName`, `get_user_name` and "user name" meet. A *stem* is a word without its English inflection; it is
meant to be compared, not read. Pure functions, no I/O; both are cached, because a client sends its text again
and again.

A set of words, written down as one text.

Words that say nothing by themselves, in the languages that are read: English, German and Spanish.

What a text is about, for comparing one with another.

What must stay to the letter when a text is said in other words: numbers, names, paths, code.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import Final

# Scripts written without spaces: Han, kana, Hangul. Their runs are cut into characters and pairs.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Letters and digits, joined by what joins the parts of a name or a number. The joiner must stand between two
# word characters, so a sentence's full stop is never part of a word. Length is bounded so that one line of
# base64 is many words, and no word is a memory hog.
_RUN = rf"[^\W_{_CJK}]{{1,64}}"
_TOKEN = re.compile(rf"[{_CJK}]{{1,64}}|{_RUN}(?:(?:[._'’\-]|::|__+){_RUN}){{0,15}}")
_IS_CJK = re.compile(rf"[{_CJK}]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_JOINERS = re.compile(r"::|[._\-]+")
# The borders inside CamelCase: aB, and the last capital of an acronym before a word (HTTPServer).
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_STOP_TEXT: Final = (
    # articles, pronouns, prepositions, conjunctions
    "a an the this that these those i me my mine myself we us our ours ourselves you your yours yourself "
    "yourselves he him his himself she her hers herself it its itself they them their theirs themselves one "
    "of in on at by for from to into onto with without within about against between among through during "
    "before after above below up down out off over under upon as than via per and or but nor so yet if because "
    "while until since although though whether then else there here both either neither each every any all "
    "some such same other another no not only own too very just also even still again more most much many few "
    # auxiliaries, light verbs and their short forms
    "am is are was were be been being have has had having do does did doing done will would shall should can "
    "could may might must ought cannot get gets got getting go goes going went gone let lets "
    "don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't shan't shouldn't "
    "can't couldn't mustn't mightn't needn't ain't i'm i've i'd i'll you're you've you'd you'll he's he'd he'll "
    "she's she'd she'll it's it'd it'll we're we've we'd we'll they're they've they'd they'll that's that'll "
    "there's here's let's who's what's where's when's why's how's s t d m ll re ve don doesn didn isn aren wasn "
    "weren haven hasn hadn won wouldn shouldn couldn im ive dont doesnt didnt cant wont thats whats "
    # question words, and what only frames a question or a request
    "who whom whose what which when where why how whoever whatever whichever whenever wherever however "
    "please tell say says said know knows knew known remember recall remind mention mentioned ask asked "
    "ok okay oh yeah yes well hey hi hello thanks thank really quite maybe perhaps now ever"
)
STOP: frozenset[str] = frozenset(_STOP_TEXT.split())
"""Words that carry no topic, lower case, apostrophes straight. Question words are in it: in a query they only
say that it is a question, and yet they are rare enough in statements to outweigh the topic."""


def tokens(text: str) -> list[str]:
    """The raw tokens of `text` in order, in their own case: the units that `parts` takes."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return _TOKEN.findall(text)


@lru_cache(maxsize=8192)
def parts(token: str) -> tuple[str, ...]:
    """The words of one raw token: itself in lower case first, then its parts when it is an identifier.

    `parserConfig.max_depth` gives itself, parserconfig, parser, config, max, depth; `don't` stays one word, the
    `'s` of a possessive goes, `3.11.7` stays whole, `well-known` gives its two words only, `utf-8` both. A run of
    Han, kana or Hangul gives its characters and its pairs.
    """
    if token.isascii() and token.isalpha() and (token.islower() or token[1:].islower()):
        return (token.lower(),)
    if _IS_CJK.match(token):
        return (*token, *(token[i : i + 2] for i in range(len(token) - 1))) if len(token) > 1 else (token,)
    token = token.replace("’", "'")
    if token[-2:] in ("'s", "'S") and token.lower() not in STOP:
        token = token[:-2]
    pieces = [piece for joined in _JOINERS.split(token) for piece in joined.split("'" if "_" in token else "\0")]
    if all(piece.isdigit() for piece in pieces):
        return (token.lower(),)
    found: dict[str, None] = {}
    if len(pieces) == 1 or not _plain_compound(token):
        found[token.lower()] = None
    for piece in pieces:
        found[piece.lower()] = None
        for hump in _CAMEL.split(piece):
            if len(hump) > 1:
                found[hump.lower()] = None
    return tuple(found)


def _plain_compound(token: str) -> bool:
    """Whether a joined token is ordinary hyphenated prose (`well-known`), whose whole is worth no word."""
    return "-" in token and token.replace("-", "").isalpha()


def words(text: str) -> list[str]:
    """The words of `text`, in order: NFKC, lower case, identifiers whole and in parts, numbers kept."""
    return list(chain.from_iterable(map(parts, tokens(text))))


_VOWELS = "aeiouy"
# Suffix and what stands in its place when enough of the word is left; longest first. The classes are those of
# Porter's algorithm: derivations that change a word's part of speech and not its topic.
_DERIVED: tuple[tuple[str, str], ...] = (
    ("ational", "ate"), ("ization", "ize"), ("isation", "ize"), ("fulness", "ful"), ("ousness", "ous"),
    ("iveness", "ive"), ("tional", "tion"), ("biliti", "ble"), ("entli", "ent"), ("ation", "ate"),
    ("alism", "al"), ("aliti", "al"), ("ousli", "ous"), ("iviti", "ive"), ("fulli", "ful"), ("lessli", "less"),
    ("ator", "ate"), ("alli", "al"), ("abli", "able"), ("izer", "ize"), ("enci", "ence"), ("anci", "ance"),
    ("bli", "ble"), ("ogi", "og"),
)  # fmt: skip
_ADJECTIVAL: tuple[tuple[str, str], ...] = (
    ("icate", "ic"), ("iciti", "ic"), ("alize", "al"), ("alise", "al"), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_LAST: tuple[str, ...] = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ise", "ion", "al", "er", "ic",
)  # fmt: skip
# Irregular forms that no rule of suffixes joins; what stands on the right is a stem already.
_IRREGULAR: dict[str, str] = {
    form: base
    for base, forms in {
        "buy": "bought", "bring": "brought", "teach": "taught", "catch": "caught", "think": "thought",
        "make": "made", "take": "took taken", "give": "gave given", "write": "wrote written", "run": "ran",
        "drive": "drove driven", "eat": "ate eaten", "speak": "spoke spoken", "break": "broke broken",
        "choos": "chose chosen", "begin": "began begun", "swim": "swam swum", "sing": "sang sung",
        "drink": "drank drunk", "fli": "flew flown", "grow": "grew grown", "see": "saw seen",
        "fall": "fell fallen", "find": "found", "keep": "kept", "lose": "lost", "meet": "met",
        "pay": "paid", "sell": "sold", "send": "sent", "sleep": "slept", "spend": "spent", "stand": "stood",
        "win": "won", "build": "built", "hold": "held", "come": "came", "becom": "became", "forget": "forgot",
        "ride": "rode ridden", "draw": "drew drawn", "throw": "threw thrown", "wear": "wore worn",
        "child": "children", "man": "men", "woman": "women", "person": "people", "foot": "feet",
        "tooth": "teeth", "mous": "mice", "die": "dying died dies", "lie": "lying", "tie": "tying",
        "news": "news", "life": "lives", "wife": "wives", "knife": "knives",
        # Porter's rules run these together although their topics differ.
        "generat": "generate generates generated generating generation generations generator generators",
        "generic": "generic generics", "general": "general generally", "univers": "universe universes",
        "universal": "universal universally", "universiti": "university universities",
        "internal": "internal internally", "polici": "policy policies",
    }.items()
    for form in forms.split()
}  # fmt: skip


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """The stem of one lower-case word (as `words` gives it), for comparing; idempotence is not promised.

    Suffixes are taken off in the order of Porter's algorithm (1980), with the later corrections that matter
    most and a table of irregular forms. Words that are not plain English letters, and short ones, come back
    unchanged.
    """
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    if (irregular := _IRREGULAR.get(word)) is not None:
        return irregular
    word = _plural(word)
    word = _past_or_progressive(word)
    if len(word) > 2 and word[-1] == "y" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    if len(word) > 4:
        word = _derivation(word)
    return word


def _plural(word: str) -> str:
    if word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2] if len(word) > 4 else word[:-1]
    return word[:-1] if any(c in _VOWELS for c in word[:-2]) else word


def _past_or_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _porter_measure(word[:-3]) else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            head = word[: -len(suffix)]
            if not any(c in _VOWELS for c in head):
                return word
            if head.endswith(("at", "bl", "iz")):
                return head + "e"
            if len(head) > 3 and head[-1] == head[-2] and head[-1] not in "aeiolsz":
                return head[:-1]
            return head + "e" if _is_short_syllable(head) else head
    return word


def _derivation(word: str) -> str:
    for table in (_DERIVED, _ADJECTIVAL):
        for suffix, instead in table:
            if word.endswith(suffix):
                if _porter_measure(word[: -len(suffix)]):
                    word = word[: -len(suffix)] + instead
                break
    if word.endswith("li") and len(word) > 4 and word[-3] in "cdeghkmnrt" and _porter_measure(word[:-2]):
        word = word[:-2]
    for suffix in _LAST:
        if word.endswith(suffix):
            head = word[: -len(suffix)]
            if _porter_measure(head) > 1 and (suffix != "ion" or head[-1] in "st"):
                word = head
            break
    if word[-1] == "e":
        head = word[:-1]
        measure = _porter_measure(head)
        if measure > 1 or (measure == 1 and not _is_short_syllable(head)):
            return head
    if word.endswith("ll") and _porter_measure(word) > 1:
        return word[:-1]
    return word


def _porter_measure(head: str) -> int:
    """How many times a vowel is followed by a consonant: Porter's m, the length of a word in syllables or so."""
    count, vowel_before = 0, False
    for i, c in enumerate(head):
        vowel = c in "aeiou" or (c == "y" and i > 0 and not vowel_before)
        if vowel_before and not vowel:
            count += 1
        vowel_before = vowel
    return count


def _is_short_syllable(head: str) -> bool:
    """Whether a head is one short syllable that lost its e: hop(e), mak(e), us(e)."""
    if len(head) == 2:
        return head[0] in "aeiou" and head[1] not in _VOWELS
    return (
        _porter_measure(head) == 1
        and len(head) > 2
        and head[-1] not in "aeiouwxy"
        and head[-2] in _VOWELS
        and head[-3] not in "aeiou"
    )


def stems(text: str) -> list[str]:
    """The stems of the words of `text` that are not on the stop list, in order, repeats kept."""
    return [stem(word) for word in words(text) if word not in STOP]


def vocabulary(words: str) -> frozenset[str]:
    """The words of a text that are separated by spaces."""
    return frozenset(words.split())


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


Stems = frozenset[str]

_SWEEPING = vocabulary("currently now actually always usually really also just still only very")


def content(text: str) -> Stems:
    """The stems of a text in lower case, without those that say nothing, and without "now" and "always"."""
    return frozenset(stem(word) for word in words(text) if word not in STOP and word not in _SWEEPING)


_EXACT = re.compile(r"\d+(?:[.,:/-]\d+)*|\b[A-Z][\w-]*|[\w./-]*[_/.][\w./-]+\w|`[^`]+`")


def invented(text: str, source: str) -> str:
    """The first number, name, path or piece of code in a text that its source does not have; empty where there is
    none. Any word with a capital may be a name, but for the small words that begin a sentence."""
    known = source.casefold()
    for match in _EXACT.finditer(text):
        exact = match[0].strip("`.,")
        if exact and exact.casefold() not in STOP and exact.casefold() not in known:
            return exact
    return ""
