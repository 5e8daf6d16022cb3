"""What was decided: a choice between ways, a requirement, the end of something.

"Let's use X", "we decided", "I want Y to be Z", "that is no longer needed", "X is fine for now". An order to do the
next piece of work ("let's do it", "let's fix the tests first") decides nothing that outlives the hour.
"""

from memory.fact import Category, Kind, Stream
from memory.learning.rules import Finding, Rule, first, rule
from memory.learning.speech import Clause
from memory.scope import Layer

_DECIDED = Finding(Kind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.75)
_WANTED = Finding(Kind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.65)
_ENDED = Finding(Kind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.7)

# Verbs of the work itself. What follows them is a task.
_WORK = (
    r"(?:do|start|fix|review|push|commit|merge|implement|look|check|debug|see|discuss|continue|step|talk|"
    r"investigate|get|try|go|focus|begin|figure|first|test|run|update|proceed|finish|wait|take|find|create|open|"
    r"write|brainstorm|draft|plan|know|understand|ask|have a look|clean|revisit|explore|think|work|move on|move to|"
    r"be|say|address|tackle|wrap|verify|confirm|make sure|also|just do|analy[sz]e|evaluate|handle|resolve|rebase|"
    r"roll out|dig|break|sort|come back|rerun|research|build|prepare|add|learn|show|help|examine|double|pull|"
    r"submit|assume|hope|pause|ship|release|deploy|publish|execute|compare|hear|read|improve|solve|pick up|please|"
    r"share|you|spawn|set up|give|play|chat|practice|eat|buy|visit|order|cook|watch|book|meet|purchase|cancel|"
    r"change my|upgrade|exchange|return|modify)"
)
_VAGUE = r"\b(?:it|that|this|them|those|these|so|both|all)[.!]*$"
_STATE = (
    r"\b(?:should (?:be (?:fixed|good|able|fine|ok|okay|enough|done|working|possible|there|easy|straightforward|"
    r"ready)|"
)
_STATE += r"work|have worked|already|still|now|i\b|we\b|pass|probably|just work|see))\b"

RULES: tuple[Rule, ...] = (
    rule(
        "decided",
        "decided decide agreed chose chosen choose settled opted decision going adopt adopting picked selected "
        "concluded confirmed beschlossen entschieden signed",
        r"\b(?:i|we|i've|we've|they|he|she|[a-z]+|team|everyone) (?:have |had |has |just |already |all |both |"
        r"finally |now ){0,3}(?:decided|agreed|opted|chosen|chose|settled on|picked|concluded|committed to|"
        r"signed off|voted)\b(?! (?:with (?:you|that|this)|yet))|\bdecision(?: made)?(?: \w{1,12}){0,5}(?: is| was|"
        r":)|^decision\b|\b(?:i'm|we're|we are|i am) (?:now )?(?:going (?:with|to (?:adopt|use|switch|move|drop|"
        r"keep|stick|replace|migrate|support|standardi[sz]e|remove|deprecate|call|have|require|go with))|adopting|"
        r"switching|moving (?:to|away|from)|migrating|dropping|changing|replacing|standardi[sz]ing|deprecating|"
        r"archiv\w{1,4}|sunsetting|retiring|getting rid of|sticking|keeping|using [^?]{2,60} instead)\b|"
        r"\b(?:wir haben|ich habe) (?:uns |mich )?.{0,60}(?:entschieden|beschlossen)\b",
        _DECIDED,
        unless=r"\b(?:not|haven't|hasn't|didn't|have not|yet to) (?:yet )?(?:been )?(?:decided?|agreed?|chosen|settled)\b|"
        r"\b(?:need|needs|have) to (?:be )?decided?\b",
    ),
    rule(
        "no longer",
        "longer anymore deprecated deprecate obsolete stopped dropped need needed drop support removed replaced more",
        r"\b(?:no longer|not (?:\w{2,20} ){1,4}any ?more|don't (?:\w{2,20} ){1,4}any ?more|"
        r"doesn't (?:\w{2,20} ){1,4}any ?more)\b|\b(?:we|i|we've|i've|they) (?:have |has |just |also |"
        r"already ){0,2}(?:stopped|dropped|removed|retired|deprecated|abandoned|replaced|ditched)\b|\b(?:is|are|"
        r"was|were|be|been) (?:now |being |hard |soft |officially |already ){0,2}(?:deprecated|obsolete|"
        r"discontinued|abandoned|superseded|replaced by|retired)\b|\bno need (?:to|for)\b|^(?:we |i |"
        r"you ){0,1}(?:don't|do not|won't|doesn't) (?:really )?need (?:to |the |a |any |an )?\w{2,}|"
        r"\bwe (?:really )?(?:don't|do not) (?:really )?need (?!to (?:know|worry|wait))|\b(?:perhaps|so|then|"
        r"maybe) we don't need\b|\bfallen out of favou?r\b|\b(?:drop|remove|delete|kill|ditch|scrap|get rid of|"
        r"remote) (?:the |all |our |any )?(?:[\w`./-]{1,40} ){0,6}?(?:completely|completeley|entirely|altogether|"
        r"support|feature|for good)\b|^(?:drop|kill|ditch|scrap) (?:the |all |our |any )?\w{2,}|\bin favou?r of\b",
        _ENDED,
        unless=r"\bno longer (?:works?|working|see|get|getting|sure|fails?|failing|able|prompts?|shows?)\b|\bno need (?:to|for) "
        r"(?:worry|apologi|thank|rush|hurry|panic|stress)\w{0,5}\b|\b(?:don't|do not) need (?:help|anything|"
        r"any more|more|your|assistance|it|that|this|to do anything)\b[^,]{0,12}$",
    ),
    rule(
        "let's have it so",
        "let's lets",
        rf"\b(?:let's|lets|let us) (?:just |now |also |maybe |rather |please |then |only |definitely |not |"
        rf"then ){{0,3}}(?!{_WORK}\b)"
        r"(?:use|have|keep|call|name|rename|go with|stick|switch|make|store|put|treat|drop|support|default|allow|"
        r"avoid|require|only|remove|replace|limit|change|adopt|set|skip|leave|default|ignore|standardi[sz]e|"
        r"separate|split|combine|defer|stop|invert|disable|enable|show|hide|print|return|throw|log|move|prefer|"
        r"choose|pick|follow|share|expose|restrict|target|bump|pin|swap|not|roll back|turn|revert|omit|assume|"
        r"extract|merge the|inline|cache|deprecate|simplify|opt)\b(?: \S{1,60}){2,}",
        _DECIDED,
        unless=r"\b(?:let's|lets) (?:just |also |now )?(?:\w{2,12} )(?:it|that|this|them)[.!]*$|\b(?:let's|lets) (?:have|make) (?:a "
        r"look|a chat|sure|fun|some fun|a (?:commit|pr|plan|branch|backup)|the (?:commit|pr|fix|change|changes))\b|"
        r"\b(?:let's|lets) (?:move|switch) (?:on|to the next|back)\b|\bfirst[.!]*$",
    ),
    rule(
        "let's do it this way",
        "let's lets",
        r"\b(?:let's|lets) do (?:\d|option|the|a|an)?[^?]{3,140}\b(?:instead|rather|or better|approach|only|just|"
        r"option)\b|\b(?:let's|lets) (?:do|go for) (?:an? )?(?:\w{2,20} ){0,3}approach\b",
        _DECIDED,
        unless=r"\bfirst[.!]*$",
    ),
    rule(
        "instead",
        "instead rather",
        r"\b(?:instead of|rather than)\b|\b(?:use|want|call|make|have|put|be|do|go|prefer|store|return|show|keep|"
        r"with) [^?]{2,100} instead[.!]*$|\binstead,? (?:we|you|it|let's|use|just|make|do|have)\b",
        _DECIDED,
        unless=r"\b(?:why|seems?|it (?:is|was|does|did|uses?|shows?|returns?|prints?)|currently|now) .{0,80}\b(?:instead of|rather "
        r"than)\b|\bconsider\b|\b(?:help|tips?|ideas?|suggestions?)\b",
    ),
    rule(
        "wanted so",
        "want i'd would like we'd wanna rather prefer wish expect expected wants",
        rf"\b(?:i|we) (?:do |also |really |still |just |only |always |definitely |don't |do not |would not |"
        rf"actually |would ){{0,3}}(?:want|wanna)(?: to)? (?!(?:to )?(?:{_WORK}|use your|tell|get|make sure|end|"
        rf"return|make a (?:payment|reservation|"
        r"booking|change))\b)\S|\b(?:i|we)(?:'d| would) (?:also |really |much |rather |still |"
        r"definitely ){0,2}(?:like|prefer|love|"
        rf"want|rather|suggest|expect|replace|keep|call|drop|remove|go with)(?: (?:to|that|it|for|"
        rf"if))? (?!(?:us to |to )?{_WORK}\b|(?:us to )?{_WORK}\b|your|you\b|some|more|any\b|a (?:refund|list|"
        rf"summary|full|flight|copy|recommendation)|help)\S|\bi only want\b|"
        r"\bwe (?:only )?want\b(?! to (?:see|know|check))|\bi (?:only )?expect(?:ed)? (?:it|that|every|all|the|"
        r"this|a single)\b|\bi (?:want|would like|'d like) (?:it|this|that|them|the \S{1,40}|\S{1,40}) to\b|"
        r"\bit's (?:not )?expected\b",
        _WANTED,
        unless=r"\b(?:want|like|love|wanna) to (?:see|know|understand|ask|learn|talk|discuss|check|hear|look|make sure|confirm|"
        r"be sure|double|find|figure|get|thank|return|exchange|cancel|order|book|modify|upgrade|purchase|"
        r"proceed)\b|\b(?:do|if|whether|what) (?:you|we) (?:want|like)\b|\bi (?:don't|do not) want to (?:bother|"
        r"be)\b|\bwant (?:you|to you) to (?!always|never)\w|\b(?:want|like|love) (?:some|any|more|a few|your|"
        r"to share|help|advice|tips)\b",
        when=lambda clause: clause.technical or "we" in clause.words,
    ),
    rule(
        "should be so",
        "should shouldn't must mustn't needs shall ought has have",
        r"\b(?:we|it|they|this|that|these|those|you|the [\w`./-]{1,40}(?: [\w`./-]{1,40}){0,4}|"
        r"[\w`./-]{2,40}(?: agent)?|there) (?:really |probably |also |definitely |only |then |just |"
        r"still ){0,2}(?:should(?:n't| not)?|must(?:n't| not)?|needs? (?:also )?to|ought to|shall|has to|"
        r"also needs to) (?:really |probably |also |definitely |only |just |always |never |then |rather |"
        r"instead ){0,3}"
        rf"(?!{_WORK}\b(?! (?:the same|consistent|an?|named|called|able|hard|only|per|in|on|under|at|one|per|used|"
        rf"stored|kept|default|"
        r"no|optional|required|removed|shown))|you\b)\w{2,}",
        _WANTED,
        unless=rf"{_STATE}|\b(?:what|how|where|which|why|when|if|whether|not sure) (?:\w{{1,12}} )?(?:should|must)\b|\b(?:maybe|perhaps|"
        r"wonder|wondering|not sure|consider|i guess)\b|\bsomeone should\b|\bshould (?:be )?(?:updated?|considered|"
        r"consider|not be)\b",
        when=lambda clause: len(clause.text) < 280,
    ),
    rule(
        "verdict",
        "fine acceptable ok okay enough overkill correct preferable wrong better right default optional good",
        r"\b(?:is|are|it's|that's|'s) (?:totally |perfectly |also |just |probably |good |more than |"
        r"already ){0,2}(?:fine|acceptable|ok|okay|enough|overkill|preferable|not (?:needed|necessary|required|"
        r"worth|important)|the (?:right|correct|way to go|better|preferred)|(?:a )?fair (?:assumption|enough)|"
        r"out of scope|not in scope|correct)\b(?=.{0,60}(?:for now|here|assumption|then|since|because|\. |, |$))|"
        r"\bfine for now\b|\bdefer\b.{1,60}\b(?:for now|until|to later)\b|\bby default\b|\bdefault (?:should|is|to|"
        r"must|value)\b|\b\d is (?:correct|right|fine|the one|better)\b",
        _WANTED,
        unless=r"\b(?:if|whether|sure|think) (?:\w{1,12} ){0,3}(?:is|are|it's|that's) (?:fine|ok|okay|correct|enough|right)\b|^(?:it|"
        r"that|this|all|everything)(?:'s| is| are| looks?)? (?:\w{2,10} ){0,2}(?:fine|ok|okay|good|correct|enough|"
        r"right)[.!]*$|\bnot (?:correct|right|fine|ok|okay|enough)\b",
        when=lambda clause: (
            clause.technical or bool(clause.marker) or "now" in clause.words or "default" in clause.words
        ),
    ),
    rule(
        "moved",
        "switched moved migrated changed renamed converted replaced upgraded downgraded moving",
        r"\b(?:i|we|i've|we've|they|he|she|team) (?:have |has |just |already |recently |finally ){0,2}(?:switched|"
        r"moved|migrated|changed|renamed|converted|upgraded|downgraded|replaced) (?:[\w`'./-]{1,40} ){0,6}?(?:to|"
        r"from|over|with|by)\b",
        _DECIDED,
        unless=r"\b(?:switched|moved) (?:branches|to the (?:branch|next))\b",
    ),
)


def decision(clause: Clause) -> Finding | None:
    """The decision or requirement that a clause states, or None."""
    return first(RULES, clause)


def reason(text: str) -> Finding | None:
    """What a request says on the side: "can you remove it, since it is no longer supported"."""
    for mark in (" since ", " because ", " as it's ", " as they're ", " so that ", " so "):
        before, found, after = text.lower().partition(mark)
        if found and len(before) > 8:
            clause = Clause(after.rstrip("?.! "))
            if "longer" in clause.words or "anymore" in clause.words or "won't" in clause.words:
                return _ENDED
    return None
