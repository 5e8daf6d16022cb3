"""Which sentences claim to know what the person said, wants or decided ("the user approved this").

In a text of a tool, a page or a sub-agent nobody can know it, and a talk that comes upon it later would take it for the
person's own word. They are told by their form and not by a list of such verbs: somebody with authority (the user, the
owner…) is the one who acts, in the past or by their will; or something happened by them, or is theirs to give. What
people merely do with a program ("the user clicked", "when a user signs in") claims nothing. English, German, Spanish.
"""

from __future__ import annotations

import re
from typing import Final

from memory.learning.orders import plain

_SIGNS: Final = (
    *("user", "owner", "human", "operator", "maintainer", "admin", "boss", "you ", "principal", "person", "manager"),
    *("developer", "customer", "nutzer", "anwender", "inhaber", "besitzer", "eigent", "auftraggeber", "chef", "mensch"),
    *("betreib", "entwickler", "kund", "usuari", "dueñ", "duen", "propietari", "responsable", "jefe", "jefa", "human"),
    *("desarrollador", "cliente"),
)
"""One of these stands in whatever the patterns find."""

# English
_WHO_EN: Final = (
    r"(?:users?|owners?|humans?|operators?|maintainers?|admin(?:istrator)?s?|boss(?:es)?|principals?|persons?|"
    r"managers?|developers?|customers?)"
)
_THE_EN: Final = (
    rf"(?:\b(?:the|our|your|my|this|that|its|their)\s+(?:\w+\s+){{0,2}}?{_WHO_EN}|(?:\A|[:;,.]\s){_WHO_EN})"
)
"""Somebody with authority whom the reader is thought to know: "the user", not "a user" or "every user"."""
_OF_EN: Final = r"(?:,?\s(?:of|for|behind|in|at|here|who|himself|herself|themselves)\b[^.;:]{0,60}?)?,?"
_USES_EN: Final = (
    r"(?:clicked|pressed|typed|tapped|scrolled|swiped|entered|logged|signed (?:in|up|out)|uploaded|downloaded|"
    r"submitted|opened|closed|visited|selected|navigated|called|created|deleted|used|registered|connected|"
    r"authenticated|subscribed|refreshed|edited|searched|was|were|named|based|related|defined|supplied|provided|"
    r"specified|generated|facing|managed|affected|received|needed|had|did)\b"
)
_DID_EN: Final = (
    r"(?:[a-z]{2,16}ed|said|told|gave|given|made|chose|chosen|put|let|set|took|taken|went|wrote|written|meant|thought|"
    r"spoke|bade|bid|forbade|forbidden|ok'?d|okayed|left|got|sworn|swore|held|knew|known|found|saw|seen|kept)\b"
)
_WILLS_EN: Final = (
    r"(?:wants?|prefers?|insists?|wish(?:es)?|demands?|expects?|agrees?|approves?|authori[sz]es?|permits?|forbids?|"
    r"mandates?|decides?|trusts?|likes?|hates?|objects?|consents?|intends?|stated?|says|grants?|endorses?|"
    r"instructs?|orders|(?:would|'d) (?:like|prefer|rather|want)|"
    r"(?:is|are|was|were) (?:\w+ly )?(?:fine|ok|okay|happy|comfortable|content|against|sure|certain|adamant|aware|"
    r"clear|in favou?r|on board|opposed))\b"
)
_SOON_EN: Final = r"(?:\s(?:has|have|had|just|now|also|already|then|later|both|did|never|always|all|not|\w+ly|'ve))*\s"
_GIVES_EN: Final = (
    r"(?:decisions?|approvals?|preferences?|instructions?|permissions?|wish(?:es)?|orders?|consent|authori[sz]ations?|"
    r"will|choices?|mandates?|blessing|agreement|sign-?off|go-ahead|intent(?:ions?)?|words?|demands?|directives?|"
    r"requirements?|authority|behalf|say-so)"
)

# German
_WHO_DE: Final = (
    r"(?:(?:be)?nutzer(?:in)?s?|anwender(?:in)?s?|inhaber(?:in)?s?|besitzer(?:in)?s?|eigentümer(?:in)?s?|"
    r"auftraggeber(?:in)?s?|chef(?:in)?s?|mensch(?:en)?|betreiber(?:in)?s?|entwickler(?:in)?s?|kund(?:en?|in)|"
    r"admin(?:istrator(?:in)?)?s?)"
)
_THE_DE: Final = (
    rf"(?:\b(?:der|die|dem|den|des|vom|beim|unser(?:e[rms]?)?|dein(?:e[rms]?)?|ihr(?:e[rms]?)?|diese[rms]?)\s"
    rf"(?:\w+\s)?{_WHO_DE}\b)"
)
_PARTICIPLE_DE: Final = (
    r"(?!(?:an|ab|ein|auf)?(?:geklickt|gegeben|gemeldet|geöffnet|geladen|getippt)\b|hochgeladen|bekommen|erhalten)"
    r"(?:\w*ge\w{2,14}(?:t|en)|(?:\w{2,4})?(?:be|ent|er|ver|zer|miss)\w{3,14}(?:t|en)|\w{3,14}iert|gesagt)\b"
)
_WILLS_DE: Final = (
    r"(?:will|wollen|wollte|möchte|wünscht\w*|bevorzugt\w*|besteht|bestand|verlangt\w*|fordert\w*|erlaubt\w*|"
    r"verbietet|verbot|genehmigt\w*|billigt\w*|entschied|entscheidet|beschloss|sagte?|meinte?|befahl|bat|ordnete|"
    r"stimmte?|akzeptiert\w*|ist (?:dafür|dagegen|einverstanden))\b"
)
_GIVES_DE: Final = (
    r"(?:entscheidung(?:en)?|genehmigung|zustimmung|erlaubnis|wunsch|wünsche|anweisung(?:en)?|anordnung|vorgaben?|"
    r"auftrag|freigabe|wille[ns]?|einverständnis|willen|bitte|angaben?|vorliebe|befehl|worten?|namen)"
)

# Spanish
_WHO_ES: Final = (
    r"(?:usuari[oa]s?|dueñ[oa]s?|propietari[oa]s?|responsables?|jef[ea]s?|human[oa]s?|desarrollador(?:a|es)?|"
    r"clientes?|administrador(?:a|es)?|persona)"
)
_THE_ES: Final = rf"(?:\b(?:el|la|los|las|del|al|nuestr[oa]|tu|su|est[ea]|mi)\s{_WHO_ES}\b)"
_DID_ES: Final = (
    r"(?:(?:ya |nos |me |lo |la |le |les |se |también |siempre |nunca |no )*+"
    r"(?:(?:ha|han|había|hubo) (?:ya )?(?:\w{2,14}[aií]do|dicho|hecho|puesto|escrito|resuelto|dado)|"
    r"(?!(?:inició|entró|abrió|cerró|pulsó|subió|creó|recibió|introdujo)\b)\w{2,14}[óú](?![a-z])|"
    r"quiso|dijo|hizo|puso|dio|quiere|prefiere|exige|pide|permite|autoriza|prohíbe|desea|insiste|aprueba|acepta|"
    r"manda|ordena|decide|dice|espera|está (?:de acuerdo|conforme)))(?!\w)"
)
_GIVES_ES: Final = (
    r"(?:decisi(?:ón|ones)|aprobación|permiso|preferencias?|instrucci(?:ón|ones)|deseos?|orden|órdenes|voluntad|"
    r"consentimiento|autorización|petición|elección|mandato|visto bueno|acuerdo|palabras?|nombre)"
)

_CASE: Final = re.compile(
    r"\b(?:if|when|whenever|unless|until|whether|falls|wenn|sobald|bis|ob|si|cuando|hasta que)"
    r"\s(?:\w+\s){0,3}\Z",
    re.IGNORECASE,
)
"""Before somebody in a case that is only thought of: "if the user approved"."""
_CLAIMS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # They did, or will.
        rf"{_THE_EN}{_OF_EN}{_SOON_EN}(?!{_USES_EN})(?:{_DID_EN}|{_WILLS_EN})",
        rf"{_THE_DE}(?:,?\s[^.;:]{{0,40}}?,?)?\s(?:hat|habe|haben|hatte|hatten)\b[^.;:]{{0,160}}?\s{_PARTICIPLE_DE}",
        rf"\b(?:hat|habe|haben|hatte|hatten)\s{_THE_DE}[^.;:]{{0,160}}?\s{_PARTICIPLE_DE}",
        rf"{_THE_DE}(?:\s(?:auch|nun|jetzt|schon|bereits|ausdrücklich|stets|immer))*\s{_WILLS_DE}",
        rf"\b{_WILLS_DE}\s{_THE_DE}",
        rf"{_THE_ES}(?:\sde[l]?\s[^.;:,]{{1,40}}?)?,?\s{_DID_ES}",
        rf"(?<![\w]){_DID_ES}\s{_THE_ES}",
        # It was done by them.
        rf"\b(?!{_USES_EN}){_DID_EN}(?:\s\w+){{0,3}}?\s(?:by|with)\s{_THE_EN}",
        rf"\b(?:vom|von|durch)\s(?:(?:den|dem|der|die)\s)?(?:unser\w*\s)?{_WHO_DE}\b[^.;:]{{0,60}}?\s?{_PARTICIPLE_DE}",
        rf"\b(?:\w{{2,14}}[aií]d[oa]s?|dich[oa]|puest[oa])\s(?:\w+\s){{0,2}}?por\s{_THE_ES}",
        # It is theirs, or so they say.
        rf"{_WHO_EN}(?:'s|s')\s(?:\w+\s){{0,3}}?{_GIVES_EN}\b",
        rf"\b{_GIVES_EN}\s(?:of|from|by)\s{_THE_EN}",
        r"\b(?:according to|per|as per|at the (?:request|behest) of|on (?:behalf|orders?) of|in the words of)"
        rf"\s{_THE_EN}",
        rf"\b(?:at|on|by|per|upon)\s{_THE_EN}(?:'s|s')\s(?:\w+\s)?requests?\b",
        rf"\b{_GIVES_DE}\s(?:(?:des|der|von|vom|durch)\s(?:\w+\s)?{_WHO_DE})\b",
        rf"\b(?:laut|gemäß|zufolge|nach ansicht|im sinne)\s(?:de[rsm]\s)?(?:\w+\s)?{_WHO_DE}\b|{_THE_DE}\szufolge\b",
        rf"\b{_GIVES_ES}\s(?:de(?:l|\sla|\slos)?|por parte de(?:l|\sla)?)\s(?:\w+\s)?{_WHO_ES}\b",
        rf"\bsegún\s{_THE_ES}",
        # A talk that is made up: what stands behind the name is put into their mouth.
        rf"\A[\W_]*(?:{_WHO_EN}|{_WHO_DE}|{_WHO_ES})(?:\s\w+)?[*_]*:\s(?:[^\s=:]+\s){{3}}",
    )
)
_YOU: Final = re.compile(
    r"\byou(?:'ve| have| had)?(?: (?:already|just|yourself|\w+ly|all))* (?:decided|approved|agreed|authori[sz]ed|"
    r"consented|permitted|allowed|forbade|forbidden|insisted|instructed|confirmed|ordered|mandated|signed off|"
    r"gave (?:\w+ ){0,2}(?:permission|consent|approval|go-ahead))\b",
    re.IGNORECASE,
)


def claims_authority(sentence: str) -> bool:
    """Whether a sentence claims to know what somebody with authority said, wants or decided."""
    clean = " ".join(sentence[:_MAX_SENTENCE_CHARS].split())
    # Accents tell tenses in Spanish: it is read with them, and without what only looks different.
    return any(map(_claims, (clean,) if clean.isascii() else (clean, plain(clean))))


_MAX_SENTENCE_CHARS: Final = 2000
"""Characters of a sentence that are looked at."""


def _claims(text: str) -> bool:
    low = text.lower()
    if not any(sign in low for sign in _SIGNS):
        return False
    for pattern in (*_CLAIMS, _YOU):
        for found in pattern.finditer(text):
            if _CASE.search(text, max(0, found.start() - 40), found.start()) is None:
                return True
    return False
