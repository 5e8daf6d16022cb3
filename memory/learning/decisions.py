"""What was decided: a choice between ways, a requirement, the end of something.

"Let's use X", "we decided", "I want Y to be Z", "that is no longer needed", "X is fine for now". An order to do the
next piece of work ("let's do it", "let's fix the tests first") decides nothing that outlives the hour.
"""

from memory.fact import Category, FactKind, Stream
from memory.learning.rules import Rule, RuleFinding, any_of, first, rule, technical
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

_DECIDED = RuleFinding(FactKind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.75)
_WANTED = RuleFinding(FactKind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.65)
_ENDED = RuleFinding(FactKind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.7)

# Verbs of the work itself, and of errands: what follows them is a task, not how something shall be.
_WORK = any_of(
    "do start fix review push commit merge implement look check debug see discuss continue step talk investigate "
    "get try go focus begin figure first test run update proceed finish wait take find create open write "
    "brainstorm draft plan know understand ask clean revisit explore think work move_on move_to be say address "
    "tackle wrap verify confirm make_sure also analy[sz]e evaluate handle resolve rebase roll_out dig break sort "
    "come rerun research build prepare add learn show help examine double pull submit assume hope pause ship "
    "release deploy publish execute compare hear read improve solve pick_up please share you spawn set_up give "
    "play chat practice eat buy visit cook watch meet follow tell end"
)
# Verbs that say how something shall be.
_CHOOSE = any_of(
    "use have keep call name rename go_with stick switch make store put treat drop support default allow avoid "
    "require only remove replace limit change adopt set skip leave ignore standardi[sz]e separate split combine "
    "defer stop invert disable enable hide print return throw log move prefer choose pick expose restrict target "
    "bump pin swap not roll_back turn revert omit extract inline cache deprecate simplify opt"
)
_SOFTLY = (
    r"(?:(?:just|now|also|maybe|rather|please|then|only|definitely|really|probably|still|always|never|instead|not) "
    r"){0,3}"
)
_THING = r"(?:the|our|my|this|that|these|those|each|every|all) [\w`./\"-]{1,40}(?: [\w`./\"-]{1,40}){0,4}"

RULES: tuple[Rule, ...] = (
    rule(
        "decided",
        _DECIDED,
        "decided agreed chose chosen settled opted decision picked concluded committed signed voted beschlossen "
        "entschieden",
        r"\b[a-z'][\w']{0,20} (?:(?:have|had|has|just|already|all|both|finally|now) ){0,3}(?:decided|agreed|opted|"
        r"chosen|chose|settled on|picked|concluded|committed to|signed off|voted)\b(?! (?:with (?:you|that|this)|"
        r"yet))",
        r"\bdecision(?: made)?(?: \w{1,12}){0,5}(?: is| was|:)|^decision\b",
        r"\b(?:wir haben|ich habe) (?:uns |mich )?.{0,60}(?:entschieden|beschlossen)\b",
        unless=(
            r"\b(?:not|haven't|hasn't|didn't|yet to) (?:yet )?(?:been )?(?:decided?|agreed?|chosen|settled)\b",
            r"\b(?:needs?|has|have) to (?:be )?decided?\b",
        ),
    ),
    rule(
        "under way",
        _DECIDED,
        "going adopting switching moving migrating dropping changing replacing standardizing standardising "
        "deprecating archiving sunsetting retiring getting sticking keeping using",
        r"\b(?:i'm|we're|we are|i am) (?:now |all )?(?:adopting|switching|moving (?:to|away|from)|migrating|dropping|"
        r"changing|replacing|standardi[sz]ing|deprecating|archiv\w{1,4}|sunsetting|retiring|getting rid of|sticking|"
        r"keeping|using [^?]{2,60} instead)\b",
        r"\b(?:i'm|we're|we are|i am) (?:now )?going (?:with|to (?:adopt|use|switch|move|drop|keep|stick|replace|"
        r"migrate|support|standardi[sz]e|remove|deprecate|call|have|require|go with))\b",
    ),
    rule(
        "it has ended",
        _ENDED,
        "longer anymore any more deprecated obsolete discontinued superseded retired stopped dropped abandoned "
        "fallen favor favour",
        r"\bno longer\b|\b(?:not|don't|doesn't|won't|isn't|aren't) (?:\w{1,20} ){1,4}any ?more\b",
        r"\b(?:we|i|we've|i've|they) (?:(?:have|has|just|also|already) ){0,2}(?:stopped|dropped|retired|deprecated|"
        r"abandoned|ditched)\b",
        r"\b(?:is|are|was|were|be|been) (?:(?:now|being|hard|soft|officially|already) ){0,2}(?:deprecated|obsolete|"
        r"discontinued|abandoned|superseded|retired)\b",
        r"\bfallen out of favou?r\b|\bin favou?r of\b",
        unless=(
            r"\bno longer (?:works?|working|see|get|getting|sure|fails?|failing|able|prompts?|shows?)\b",
            r"\b(?:can't|don't) (?:\w{2,12} ){0,2}(?:see|get|find|remember) .{0,40}any ?more\b",
            r"\b(?:doesn't|don't|not|won't) (?:\w{2,12} )?(?:work|fire|show|load|run|compile|build|start|open|"
            r"respond)\w{0,3} any ?more\b",
        ),
    ),
    rule(
        "not needed",
        _ENDED,
        "need needed necessary",
        r"\bno need (?:to|for) \w",
        r"^(?:we |i |you )?(?:don't|do not|won't|doesn't) (?:really )?need (?:to |the |a |any |an )?\w{2,}",
        r"\bwe (?:really )?(?:don't|do not) (?:really )?need (?!to (?:know|worry|wait))\w",
        unless=(
            r"\bno need (?:to|for) (?:worry|apologi|thank|rush|hurry|panic|stress)\w{0,5}\b",
            r"\b(?:don't|do not) need (?:help|anything|any ?more|more|your|assistance|it|that|this|to do anything)\b"
            r"[^,]{0,12}$",
        ),
    ),
    rule(
        "away with it",
        _ENDED,
        "drop remove delete kill ditch scrap rid",
        r"\b(?:drop|remove|delete|kill|ditch|scrap|get rid of) (?:the |all |our |any )?(?:[\w`\"./-]{1,40} ){0,6}?"
        r"(?:complete\w{0,3}ly|entirely|altogether|for good)\b",
        r"^(?:drop|kill|ditch|scrap) (?!(?:it|this|that|them|these|those)\b)(?:the |all |our |any )?\w{2,}",
    ),
    rule(
        "let's have it so",
        _DECIDED,
        "let's lets",
        rf"\b(?:let's|lets|let us) {_SOFTLY}(?!{_WORK}\b){_CHOOSE}\b(?: \S{{1,60}}){{2,}}",
        unless=(
            r"\b(?:let's|lets) (?:just |also |now )?(?:\w{2,12} )(?:it|that|this|them)[.!]*$",
            r"\b(?:let's|lets) (?:have|make) (?:a (?:look|chat|commit|pr|plan|branch|backup)|sure|fun|some fun|the "
            r"(?:commit|pr|fix|changes?))\b",
            r"\b(?:let's|lets) (?:move|switch) (?:on|to the next|back)\b|\bfirst[.!]*$",
        ),
    ),
    rule(
        "instead",
        _DECIDED,
        "instead rather",
        r"\b(?:instead of|rather than)\b",
        r"\b(?:use|want|call|make|have|put|be|do|go|prefer|store|return|show|keep|with) [^?]{2,100} instead[.!]*$",
        r"\binstead,? (?:we|you|it|let's|use|just|make|do|have)\b",
        unless=(
            r"\b(?:why|seems?|it (?:is|was|does|did|uses?|shows?|returns?|prints?)|currently|"
            r"now) .{0,80}\b(?:instead of|rather than)\b",
            r"\bconsider\b|\b(?:help|tips?|ideas?|suggestions?)\b",
        ),
    ),
    rule(
        "wanted so",
        _WANTED,
        "want wanna i'd we'd would wants expect expected",
        rf"\b(?:i|we) {_SOFTLY}(?:(?:do|don't|do not|would not) )?(?:want|wanna)(?: to)? (?!(?:to )?{_WORK}\b|"
        rf"use your)\S",
        rf"\b(?:i|we)(?:'d| would) {_SOFTLY}(?:like|prefer|love|want|rather|suggest|replace|keep|call|drop|remove|"
        rf"go with)(?: (?:to|that|it|for|if))? (?!(?:us to |to )?{_WORK}\b|your|some|more|any\b|a (?:list|summary|full|"
        r"copy|recommendation)|help)\S",
        rf"\b(?:i|we) (?:want|would like|'d like) {_THING} to\b|\bi (?:want|'d like) (?:it|this|that|them|"
        rf"[\w`-]{{3,40}}) to "
        r"(?:be|have|use|show|stay|return|work like|look|behave)\b",
        r"\b(?:i'd|i|we|we'd|i would) expect (?:it|that|every|all|the|this|a single)\b|"
        r"\bit's (?:not )?expected that\b",
        r"^(?:i )?(?:don't|do not) want (?!to\b|you|any)\S.{8,}",
        unless=(
            r"\b(?:want|like|love|wanna) to (?:see|know|understand|ask|learn|talk|discuss|check|hear|look|"
            r"make sure|confirm|be sure|double|find|figure|get|thank|proceed)\b",
            r"\b(?:do|if|whether|what) (?:you|we) (?:want|like)\b|\bi (?:don't|do not) want to (?:bother|be)\b",
            r"\bwant (?:you|to you) to (?!always|never)\w|\b(?:want|like|love) (?:some|any|more|a few|your|"
            r"to share|help|advice|tips)\b",
        ),
        when=lambda clause: clause.technical or not clause.words.isdisjoint(("we", "we'd", "expect")),
    ),
    rule(
        "preferred",
        _WANTED,
        "prefer favor favour like",
        r"\bi (?:(?:actually|really|much|still|also) ){0,2}(?:prefer|favou?r) (?!to (?:see|know|wait))\S.{4,}",
        r"\bi (?:(?:actually|really|also) ){0,2}like (?:option|approach|variant|number) \w",
        when=technical,
    ),
    rule(
        "should be so",
        _WANTED,
        "should shouldn't must mustn't needs need ought shall has have",
        rf"\b(?:we|it|they|this|that|you|there|{_THING}|[\w`./-]{{2,40}}(?: agent)?) {_SOFTLY}(?:should(?:n't|"
        rf" not)?|must(?:n't| not)?|needs? (?:also )?to|ought to|shall|has to|"
        rf"also needs to) {_SOFTLY}(?:also )?(?!you\b|{_WORK}\b(?! (?:the same|"
        r"consistent|an?|named|called|able|hard|only|per|in|on|under|at|one|used|stored|kept|default|no|optional|"
        r"required|removed|shown))|include (?:a |the )?test)\w{2,}",
        rf"\b(?:i think )?we (?:can|could) {_SOFTLY}(?:drop|remove|use|skip|omit|ignore|keep|replace|call|merge|"
        rf"rename) "
        r"(?!it|this|that|them)[\w`\"][^?]{8,}",
        unless=(
            r"\b(?:should|must) (?:be (?:fixed|good|able|fine|ok|okay|enough|done|working|possible|there|easy|"
            r"straightforward|ready)|work|already|still|now|i\b|we\b|pass|probably|just work|see|"
            r"(?:not )?(?:be )?(?:updated?|considered|consider))\b",
            r"\b(?:should|must|would|could)(?: not|n't)? have (?:\w{2,12}ly )?(?:\w{2,15}ed|been|gone|done|had|"
            r"seen|made|gotten)\b",
            r"\b(?:what|how|where|which|why|when|if|whether|not sure) (?:\w{1,12} )?(?:should|must|can|could)\b",
            r"\b(?:maybe|perhaps|wonder|wondering|not sure|i guess|someone should)\b|\bi (?:\w{2,12} ){0,2}need to\b",
        ),
        when=lambda clause: len(clause.text) < 280 and (clause.technical or clause.work or "we" in clause.words),
    ),
    rule(
        "verdict",
        _WANTED,
        "fine acceptable ok okay enough overkill correct preferable better right default optional fair scope needed "
        "necessary worth defer",
        r"\b(?:is|are|it's|that's) (?:(?:totally|perfectly|also|just|probably|good|more than|already|"
        r"an?) ){0,2}(?:fine|acceptable|okay|ok|enough|overkill|preferable|not (?:needed|necessary|required|worth|"
        r"important)|the (?:right|correct|way to go|better|preferred)|fair (?:assumption|enough)|out of scope|"
        r"not in scope|correct|right)\b(?=.{0,60}(?:for now|here|assumption|then|since|because|\.|,|$))",
        r"\b(?:fine|enough|ok|okay|good) for now\b|\bdefer\b.{1,60}\b(?:for now|until|to later)\b",
        r"\bby default\b|\bdefault (?:should|is|to|must|value)\b|\b\d is (?:correct|right|fine|the one|better)\b",
        unless=(
            r"\b(?:if|whether|sure|think) (?:\w{1,12} ){0,3}(?:is|are|it's|that's) (?:fine|ok|okay|correct|enough|"
            r"right)\b",
            r"^(?:it|that|this|all|everything)(?:'s| is| are| looks?)? (?:\w{2,10} ){0,2}(?:fine|ok|okay|good|"
            r"correct|enough|right)[.!]*$|\bnot (?:correct|right|fine|ok|okay|enough)\b",
        ),
        when=lambda clause: clause.technical or bool(clause.marker) or not clause.words.isdisjoint(("now", "default")),
    ),
    rule(
        "moved",
        _DECIDED,
        "switched moved migrated changed renamed converted upgraded downgraded replaced",
        r"\b(?:i|we|i've|we've|they|he|she|team) (?:(?:have|has|just|already|recently|finally) ){0,2}(?:switched|"
        r"moved|migrated|changed|renamed|converted|upgraded|downgraded|replaced) (?:[\w`'./-]{1,40} ){0,6}?(?:to|"
        r"from|over|with|by)\b",
        unless=(
            r"\b(?:switched|moved) (?:branches|to the (?:branch|next))\b|\bchanged [^?]{2,80} to (?:use|be|make|"
            r"get|see)\b",
        ),
    ),
)

_SIDE = (" since ", " because ", " as it's ", " as they're ", " so that ", " so ")


def decision(clause: SpokenSentence) -> RuleFinding | None:
    """The decision or requirement that a clause states, or None."""
    return first(RULES, clause)


def reason(clause: SpokenSentence) -> RuleFinding | None:
    """What a request says on the side: "can you remove it, since it is no longer supported"."""
    for mark in _SIDE:
        before, found, after = clause.plain.partition(mark)
        if found and len(before) > 8:
            words = frozenset(after.split())
            if words & {"longer", "anymore", "won't", "wont", "deprecated", "obsolete"}:
                return _ENDED
    return None
