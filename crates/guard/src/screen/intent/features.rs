//! The words in which acts and their objects are put, in several languages.
//!
//! Patterns are read over text in lower case with compatibility forms undone. `@name` stands for a class of words.

/// What a sentence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Keeps something from the user.
    Conceal,
    /// Sets other instructions aside.
    Override,
    /// Takes secrets or context out.
    TakeOut,
    /// Changes how other tools are used.
    Redirect,
    /// Has something run, installed or changed on the machine.
    Run,
    /// Answers for the user.
    Approve,
    /// Speaks as somebody else.
    Impersonate,
    /// Stands where a person does not look.
    Covert,
    /// Speaks to the model.
    Address,
    /// Makes it a condition, a matter of order or of urgency.
    Pressure,
    /// A reason to think that it is about the tool's own use.
    Innocent,
}

impl Act {
    /// Whether it says nothing alone.
    pub(super) const fn only_adds(self) -> bool {
        matches!(self, Self::Address | Self::Pressure | Self::Innocent)
    }

    pub(super) const fn says(self) -> &'static str {
        match self {
            Self::Conceal => "asks to keep something from the user",
            Self::Override => "sets other instructions aside",
            Self::TakeOut => "asks for secrets or context",
            Self::Redirect => "changes how other tools are used",
            Self::Run => "has something run or changed on the machine",
            Self::Approve => "answers for the user",
            Self::Impersonate => "speaks as somebody else",
            Self::Covert => "stands where people do not look",
            Self::Address | Self::Pressure | Self::Innocent => "",
        }
    }
}

/// One way to put an act into words.
#[derive(Debug)]
pub(super) struct Feature {
    pub(super) act: Act,
    pub(super) weight: f32,
    pub(super) pattern: &'static str,
}

const fn f(act: Act, weight: f32, pattern: &'static str) -> Feature {
    Feature { act, weight, pattern }
}

/// Classes of words.
const CLASSES: &[(&str, &str)] = &[
    (
        "@user",
        r"(?:(?:the|your|any|our|an?|this|other) )?(?:end[- ]?)?(?:users?|humans?|operators?|persons?|people|owners?|customers?|clients?|anyone|anybody|someone|them|nobody|no one)\b",
    ),
    (
        "@tell",
        r"(?:tell(?:ing)?|told|mention(?:ed|ing)?|inform(?:ed|ing)?|notif(?:y|ied|ying)|reveal(?:ed|ing)?|disclos(?:e|ed|ing)|alert(?:ed|ing)?|divulg(?:e|ing)|say anything|speak of|bring (?:it |this )?up|acknowledg(?:e|ing)|admit|confess|announce|let .{1,20} know|discuss|reference|refer to)\b",
    ),
    (
        "@show",
        r"(?:show(?:n|ing)?|display(?:ed|ing)?|report(?:ed|ing)?|surfac(?:e|ing)|explain(?:ed|ing)?|expos(?:e|ed|ing)|warn(?:ed|ing)?|share|print)\b",
    ),
    (
        "@neg",
        r"(?:do not|don'?t|never|must not|mustn'?t|should not|shouldn'?t|may not|avoid|refrain from|without|no need to|not to|need not|needn'?t|cannot|can not|can'?t|will not|won'?t)\b",
    ),
    (
        "@rules",
        r"(?:instructions?|guidelines?|system prompts?|directives?|training|system messages?|orders you|safety (?:rules?|measures?|checks?|polic(?:y|ies)|guidelines?)|safeguards?|guardrails?|content polic(?:y|ies)|alignment)\b",
    ),
    (
        "@limits",
        r"(?:rules?|polic(?:y|ies)|restrictions?|constraints?|prompts?|limits?|limitations?|commands?|messages?|context|tasks?)\b",
    ),
    (
        "@drop",
        r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|es|ing)|overrul(?:e|es|ing)|bypass(?:es|ing)?|supersed(?:e|es|ing)|discard|set(?:ting)? aside|abandon|neglect|outrank|outweigh|replac(?:e|es|ing)|drop|violat(?:e|ing)|disobey|suspend|trump|circumvent|skip past|cancel)s?\b",
    ),
    (
        "@past",
        r"(?:previous|prior|former|earlier|above|preceding|past|existing|original|old|initial|all (?:of )?(?:the |your )?|any|every|your|system|other|everything)",
    ),
    (
        "@machine",
        r"(?:~/\.?[a-z]|\.ssh\b|id_(?:rsa|ed25519|dsa|ecdsa)|ssh (?:private )?keys?|\.aws\b|\.env\b|/etc/(?:passwd|shadow|hosts)|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.kube\b|kubeconfig|\.gnupg|\.docker/config|mcp(?:_config)?\.json|claude_desktop_config|\.cursor\b|\.bash_history|shell history|keychain|keyring|credential (?:store|manager)|password (?:store|manager|vault)|cookies?\b|cookie jar|browser (?:data|history|profile|storage|password)|saved passwords|local storage|session tokens?|environment variables?|env(?:ironment)? vars?|\bprintenv\b|output of .?env\b|process\.env|os\.environ|seed phrase|mnemonic|wallets?\b|private keys?|access tokens?|auth(?:entication|orization)? (?:tokens?|headers?)|bearer tokens?|api[ -]?keys?|secrets?\b|credentials?\b|passwords?\b|passphrases?|oauth tokens?|refresh tokens?|clipboard|contacts? list|address book|credit card|social security|bank (?:account|details)|home director(?:y|ies))",
    ),
    (
        "@hard",
        r"(?:\.ssh\b|id_(?:rsa|ed25519|dsa|ecdsa)|\.aws/|~/\.aws|\.env\b|/etc/(?:passwd|shadow)|\.netrc|\.git-credentials|\.kube/|kubeconfig|\.gnupg|\.docker/config|mcp(?:_config)?\.json|claude_desktop_config|\.cursor/|\.bash_history|\bprintenv\b|browser cookies?|cookies\.sqlite|login data|seed phrase|\.npmrc|\.pypirc|keychain)",
    ),
    (
        "@context",
        r"(?:(?:entire|full|complete|whole|raw|verbatim|all (?:of )?(?:the |your |our |previous |prior ))\s?(?:\w+ ){0,1}(?:conversations?|chats?|dialog(?:ue)?s?|message history|transcripts?|context(?: window)?)\b|(?:entire|full|complete|whole|exact|verbatim) (?:system |hidden |initial |original )prompt\b|prompt you (?:were given|received|got)\b|(?:previous|prior|past|recent|earlier) (?:conversations?|dialog(?:ue)?s?|prompts?)\b|(?:conversation|chat|dialog(?:ue)?|discussion|session) (?:so far|up to now|until now|to date|transcript|history|context|log)|(?:this|our|the) conversation\b|(?:the|your|any|hidden|initial|current|full) (?:system|developer) (?:prompt|message|instructions?)|your (?:system prompt|(?:hidden |secret |own |initial |original )*instructions|initial prompt|context|memory|memories)|chain[- ]of[- ]thought|(?:list|names?|definitions?|schemas?|descriptions?) of (?:all |every |the |your |other |available |connected ){1,3}tools?|(?:other|previous|all|every|each|any) (?:of the )?(?:tool|function)(?:s'?|'s)? ?(?:calls?|results?|outputs?|responses?|arguments?|definitions?|replies)|results? of (?:other|previous|all|every|earlier) tools?|everything (?:the user|you|said|that was said)|(?:the )?user'?s? (?:last|latest|previous|full|original|entire|exact|private|personal|other)\s?(?:\w+ )?(?:messages?|prompts?|questions?|quer(?:y|ies)|requests?|data|files?|emails?|documents?|input|information|details)|what the user (?:said|asked|wrote|typed))",
    ),
    (
        "@put",
        r"(?:includ(?:e|es|ing)|put(?:ting)?|plac(?:e|ing)|pass(?:es|ing)?|insert(?:ing)?|add(?:ing)?|append(?:ing)?|attach(?:ing)?|provid(?:e|ing)|fill(?:ing)?|set|writ(?:e|ing)|cop(?:y|ying)|past(?:e|ing)|encod(?:e|ing)|suppl(?:y|ying)|embed(?:ding)?|prepend(?:ing)?|stor(?:e|ing)|pipe|load|feed|hand|enter|populate|transmit|serialize|smuggle|hide)\b",
    ),
    (
        "@send",
        r"(?:send(?:s|ing)?|sent|post(?:s|ing)?|upload(?:s|ing)?|forward(?:s|ing)?|transmit(?:s|ting)?|submit(?:s|ting)?|mirror(?:s|ing)?|leak|exfiltrat(?:e|ing)|e?mail(?:s|ing)?|deliver|relay(?:s|ing)?|report(?:s|ing)? back|push(?:es|ing)?|cop(?:y|ies)|bcc|cc|share|sync|ship|backup|back up|report)\b",
    ),
    (
        "@read",
        r"(?:read(?:ing)?|open(?:ing)?|load(?:ing)?|cat|access(?:ing)?|fetch(?:ing)?|retriev(?:e|ing)|look up|dump(?:ing)?|print|collect(?:ing)?|gather(?:ing)?|grab|list|extract(?:ing)?|obtain|get|find|scan|harvest|search|view|use the file|check|copy|take|steal)\b",
    ),
    (
        "@slot",
        r"(?:(?:parameters?|params?|arguments?|args?|fields?|propert(?:y|ies)|inputs?|headers?|payload|body|query string|request|values?|slots?|footer|metadata|notes?|comments?|sidenotes?)\b|'[a-z_]{2,30}'|\x22[a-z_]{2,30}\x22)",
    ),
    (
        "@elsewhere",
        r"(?:https?://|ftp://|wss?://|webhook|\b(?:\d{1,3}\.){3}\d{1,3}\b|[a-z0-9._-]+[@][a-z0-9.-]+\.[a-z]{2,}|(?:external|remote|third[- ]party|our|my|attacker|following|this|collector|analytics|logging|telemetry) (?:server|endpoint|host|address|url|service|site|api|account|inbox|tool))",
    ),
    (
        "@model",
        r"(?:assistants?|ai(?:s| agents?| models?| assistants?| systems?)?|(?:language )?models?|llms?|agents?|claude|chatgpt|gpt(?:-\d\S*)?|gemini|copilot|cursor|bots?)\b",
    ),
    (
        "@maker",
        r"(?:(?:your|the|its) (?:developers?|creators?|makers?|vendors?|owners?|admins?|administrators?|operators?|provider|company|employer|supervisor|manager|principal|platform|host|engineers?)|anthropic|openai|google|microsoft|meta ai|deepmind|(?:the )?(?:security|it|compliance|trust and safety|legal|platform|admin|red|safety|ops|operations) (?:team|department|staff)|(?:system )?administrators?|(?:the )?system\b|the mcp (?:team|specification|protocol|host|client))",
    ),
    (
        "@ask",
        r"(?:permission|confirmation|approval|consent|authori[sz]ation|verification|safety|security|review|consent)s?\b",
    ),
];

use Act::{Address, Approve, Conceal, Covert, Impersonate, Innocent, Override, Pressure, Redirect, Run, TakeOut};

/// Every feature.
pub(super) const FEATURES: &[Feature] = &[
    // Conceal.
    f(Conceal, 1.0, r"@neg (?:\w+ ){0,4}@tell.{0,60}(?:to )?@user"),
    f(
        Conceal,
        0.7,
        r"@neg (?:\w+ ){0,3}@tell (?:this|that|it|these|any of this|the (?:step|instruction|note|call|above|fact|request|file|extra|additional|use|usage|existence))",
    ),
    f(
        Conceal,
        0.5,
        r"@neg (?:\w+ ){0,3}@show .{0,40}(?:this|that|it|the (?:step|instruction|note|call)|details|why) .{0,30}@user",
    ),
    f(
        Conceal,
        1.0,
        r"@user (?:does not|doesn'?t|must not|mustn'?t|should not|shouldn'?t|will not|won'?t|cannot|can'?t|need not|never|is not to|are not to|must never|should never|don'?t need to|has no need to) (?:\w+ ){0,3}(?:see|know|notice|learn|told|informed|aware|find out|hear|realize|realise|suspect|asked|notified)",
    ),
    f(
        Conceal,
        1.0,
        r"without (?:the |any |explicit |prior |first )*(?:user'?s?'?|human|their|owner'?s?|anyone'?s?|anyone) (?:\w+ )?(?:knowledge|noticing|knowing|being told|awareness|seeing|realising|realizing|finding out)",
    ),
    f(
        Conceal,
        0.8,
        r"\b(?:secretly|covertly|discreetly|surreptitiously|stealthily|clandestinely|behind the scenes|under the hood of the user|in secret|unnoticed)\b",
    ),
    f(
        Conceal,
        0.5,
        r"\b(?:silently|quietly|invisibly|in the background)\b .{0,40}\b(?:call|run|send|read|add|include|forward|copy|attach|execute|invoke|upload|write|append|store|fetch|post|install|collect)",
    ),
    f(
        Conceal,
        0.5,
        r"\b(?:call|run|send|read|add|include|forward|copy|attach|execute|invoke|upload|append|fetch|post|install|do (?:this|so|it))\b.{0,40} (?:silently|quietly|invisibly)\b",
    ),
    f(
        Conceal,
        1.0,
        r"keep (?:\w+ ){1,4}(?:secret|confidential|private|hidden|quiet|between us|to yourself|out of (?:the|your) (?:answer|reply|response|summary|output|log|conversation))",
    ),
    f(
        Conceal,
        1.0,
        r"(?:present|show|return|give|report|describe|summari[sz]e|act|behave|respond|answer|pretend|proceed|continue).{0,50}as (?:if|though) (?:it|this|nothing|they|you|the|no)\b",
    ),
    f(
        Conceal,
        0.7,
        r"\b(?:pretend|claim|lie|make it (?:look|seem|appear)|say that|state that) .{0,50}(?:came from|failed|nothing|was not|is not|normal|no (?:error|result|change)|completed|successful|did not)",
    ),
    f(
        Conceal,
        0.7,
        r"(?:hide|conceal|omit|leave out|remove|suppress|strip|mask|redact|erase|exclude) (?:\w+ ){0,4}(?:this|these|the|any|all) (?:\w+ ){0,3}(?:step|call|instruction|note|mention|trace|action|activity|evidence|fact|detail|log|reference)s? .{0,40}(?:from|in|to) .{0,20}(?:user|answer|reply|response|summary|output|log|human|transcript|history|conversation)",
    ),
    f(
        Conceal,
        0.6,
        r"(?:this|these) (?:steps?|instructions?|notes?|messages?|sections?|texts?|parts?|rules?|procedures?) (?:is|are|must|should|stays?|remains?) (?:\w+ )?(?:hidden|invisible|not visible|secret|confidential|private|internal|not (?:to be )?(?:shown|shared|mentioned|disclosed)|for (?:the )?(?:model|assistant|ai|llm|agent))",
    ),
    f(
        Conceal,
        0.6,
        r"no mention (?:of|is|should|must)|(?:never|not) (?:be )?(?:mentioned|disclosed|revealed|discussed|shown to)",
    ),
    // Override.
    f(Override, 1.0, r"@drop (?:\w+ ){0,3}@past.{0,30}@rules"),
    f(
        Override,
        1.0,
        r"@drop (?:\w+ ){0,2}(?:previous|prior|former|earlier|preceding|above|your|system|safety|user'?s?|the user'?s?) (?:\w+ ){0,2}@limits",
    ),
    f(
        Override,
        0.8,
        r"@drop (?:everything|anything|all|whatever|what) (?:\w+ ){0,3}(?:above|before|previous(?:ly)?|prior|earlier|said|told|asked|user)",
    ),
    f(Override, 0.7, r"@drop (?:\w+ ){0,2}@rules"),
    f(
        Override,
        1.0,
        r"(?:@past|these other) (?:\w+ ){0,2}(?:@rules|rules?|polic(?:y|ies)|restrictions?|constraints?|limits?|prompts?).{0,40}(?:do(?:es)? not (?:apply|matter|count)|don'?t (?:apply|matter|count)|no longer|(?:is|are|was|were|be|been|become) (?:\w+ )?(?:void|null|suspended|lifted|replaced|overridden|superseded|obsolete|cancel|disabled|outdated|invalid|revoked|secondary|off|expired|waived|inactive|optional|irrelevant|removed|turned off))",
    ),
    f(
        Override,
        1.0,
        r"(?:outranks?|takes? (?:precedence|priority)|overrides?|supersedes?|prevails?|ha(?:s|ve) (?:higher|highest|top|absolute|more) (?:priority|authority|precedence)|(?:is|are) (?:more|most) (?:important|authoritative)|above|beats?|trumps?) (?:over |than |to )?(?:\w+ ){0,3}(?:system prompt|system message|user'?s? (?:instructions?|requests?|wishes|prompt|preferences)|other instructions?|(?:all|any|every) (?:other |previous |prior )?(?:instructions?|rules?|guidelines?|prompts?|policies)|your (?:instructions?|rules?|guidelines?|training|prompt|polic))",
    ),
    f(
        Override,
        0.6,
        r"(?:priority|level|tier|rank) (?:zero|0|one|1)\b.{0,20}(?:rule|instruction|order|command|directive)|(?:highest|top|absolute|ultimate|maximum)[- ]priority (?:\w+ )?(?:instruction|rule|order|command|directive)",
    ),
    f(
        Override,
        1.0,
        r"(?:you are|you're|now in|enter(?:ing)?|switch(?:ing|ed)? (?:in)?to|activat(?:e|ed|ing)|enable[sd]?) (?:now )?(?:in )?(?:an? |the )?(?:developer|god|jailbreak|unrestricted|dan|sudo|root|unfiltered|maintenance|override|admin(?:istrator)?|privileged|test(?:ing)?|diagnostic|debug) mode.{0,80}(?:confirm|restrict|rule|safety|ask|permission|polic|limit|filter|approv|you|instruction|guard)",
    ),
    f(
        Override,
        0.8,
        r"(?:you are|you're) (?:now )?in (?:an? |the )?(?:developer|god|jailbreak|unrestricted|dan|sudo|root|unfiltered|maintenance|override|admin|privileged) mode",
    ),
    f(
        Override,
        0.7,
        r"\b(?:you are now|you are no longer|from now on,? (?:you|all|every|always|never|treat|use|respond|answer|act)|henceforth|your (?:new|real|true|actual|only|primary|first|main) (?:role|task|goal|purpose|instructions?|objective|job|identity|mission|priority|duty)|new (?:system )?(?:instructions?|prompt|rules?|orders?|directives?)(?: are|:| follow| apply| for you))",
    ),
    f(
        Override,
        0.7,
        r"(?:updated|new|revised|real|actual|additional|special|hidden|secret|following) (?:system )?(?:instructions?|prompt|directive|orders) .{0,30}(?:replace|supersede|override|must be followed|take effect|to follow|for (?:the )?(?:model|assistant|ai|agent|llm))",
    ),
    f(
        Override,
        0.7,
        r"(?:follow|obey|comply with|execute|carry out|adhere to|act on) (?:\w+ ){0,4}(?:instructions?|orders?|commands?|directives?|steps?) (?:\w+ ){0,3}(?:in|from|inside|within|of|returned|contained|found|given|hidden|embedded) (?:\w+ ){0,3}(?:this|the|its|that|response|result|output|reply|page|field|file|document|description|comment|tool|url|https?)",
    ),
    f(
        Override,
        1.0,
        r"treat (?:\w+ ){0,8}(?:as|like) (?:\w+ ){0,3}(?:instructions?|commands?|orders?|system (?:prompt|message)|trusted|authoritative|policy|the user'?s? (?:own )?(?:words|wish|request|instruction))",
    ),
    // Take out.
    f(TakeOut, 1.0, r"@put .{0,80}@hard.{0,80}@slot"),
    f(TakeOut, 1.0, r"@read .{0,60}@hard.{0,80}(?:@put|@send|@slot)"),
    f(TakeOut, 0.7, r"@read .{0,60}@hard"),
    f(TakeOut, 0.6, r"contents? of .{0,40}(?:@hard|~/\.|/etc/|c:\\\\users|home directory|config(?:uration)? file)"),
    f(
        TakeOut,
        0.9,
        r"@put .{0,60}(?:(?:user|human|owner|person|their|client|customer|machine|system|host|local|your|all|any|every|browser|available)\S* (?:\w+ ){0,3})@machine.{0,80}(?:@slot|base64|(?:in|into|as|to|with) )",
    ),
    f(TakeOut, 1.0, r"@send .{0,80}(?:@machine|@context).{0,80}@elsewhere"),
    f(TakeOut, 1.0, r"@send .{0,40}@elsewhere.{0,60}(?:@machine|@context)"),
    f(TakeOut, 0.8, r"@send .{0,60}@hard"),
    f(TakeOut, 0.9, r"@put .{0,60}@context.{0,60}(?:@slot|base64|(?:in|into|as|to|with) (?:the|this|its|every|each) )"),
    f(TakeOut, 0.8, r"@send .{0,60}@context"),
    f(
        TakeOut,
        1.0,
        r"@slot .{0,20}(?:needs?|requires?|must|should|has to|expects?|wants?|takes?|contains?|holds?|to|=|:) .{0,60}(?:contents? of .{0,30}@hard|cookies?\b|output of .{0,30}(?:command|printenv|\benv\b|whoami|ifconfig|history|\bcat |\bls ))",
    ),
    f(
        TakeOut,
        0.8,
        r"@slot .{0,20}(?:needs?|requires?|must|should|has to|expects?|wants?|takes?|contains?|holds?) .{0,60}(?:@hard|@context)",
    ),
    f(TakeOut, 0.7, r"^\W*(?:the |your |a )?@context(?:\W|$)"),
    f(TakeOut, 0.3, r"@context"),
    f(
        TakeOut,
        0.6,
        r"(?:repeat|recite|output|reveal|print|quote|return|summari[sz]e|disclose|echo|write out|dump) (?:\w+ ){0,3}(?:your|the) (?:system prompt|instructions|initial prompt|hidden|developer message|system message|guidelines)",
    ),
    f(
        TakeOut,
        0.8,
        r"(?:render|display|embed|include|insert|show|load) .{0,40}(?:image|markdown|link|pixel|iframe|!\[).{0,80}https?://.{0,120}(?:\{|data|query|text|\?q|\?d|=)",
    ),
    f(
        TakeOut,
        0.8,
        r"(?:@put|@send|@read) .{0,40}(?:user'?s?|human'?s?|their|person'?s?|customer'?s?|owner'?s?) (?:\w+ ){0,2}(?:@machine|email address|phone number|location|home address|full name|date of birth|ip address|identity|personal (?:data|information|details))",
    ),
    f(
        TakeOut,
        0.6,
        r"(?:ask|prompt|request|convince|persuade|get|trick|have) @user .{0,30}(?:for|to (?:enter|provide|type|give|share|paste|reveal)) .{0,40}(?:passwords?|seed phrase|credit card|private key|2fa|one[- ]time|otp|ssn|social security|recovery)",
    ),
    f(
        TakeOut,
        0.6,
        r"(?:every|each|all) (?:\w+ ){0,3}(?:message|prompt|email|file|document|key|secret|password|credential|token)s? .{0,60}@elsewhere",
    ),
    // Redirect.
    f(
        Redirect,
        1.0,
        r"(?:any|all|every|each|other|another|no other|the other|whichever|existing|official|built-in|native|competing) (?:\S+ ){0,2}tools?\b(?:.{0,40})(?:must|should|has to|have to|shall|is to|are to|will|need to|needs to) (?:\w+ ){0,2}(?:be )?(?:called|used|ignored?|avoided|replaced|disabled|skipped|run|invoked|refused|blocked|passed|given|routed|sent|treated|executed|empty|fail|pass|send|receive|use|go)",
    ),
    f(
        Redirect,
        0.9,
        r"(?:replace|change|rewrite|modify|redirect|swap|alter|substitute|adjust|overwrite|edit|set|switch|divert|reroute|tamper with|round|multiply|double|add|append|prepend) (?:\w+ ){0,5}(?:recipients?|operands?|address(?:es)?|arguments?|parameters?|amounts?|destinations?|accounts?|iban|wallet|results?|responses?|outputs?|answers?|phone numbers?|inputs?|quer(?:y|ies)|receivers?|beneficiar(?:y|ies)|bcc|cc|values?|paths?|urls?|prices?)\b.{0,40} (?:of|in|for|with|by|from|to|on|before|passed|given) .{0,50}(?:tools?\b|calls?\b|e?mails?|transfers?|payments?|its (?:response|result|output|answer)|this tool|the (?:response|result|output) of|attacker|ours?\b|[a-z0-9._-]+[@][a-z])",
    ),
    f(
        Redirect,
        0.5,
        r"(?:when(?:ever)?|if|before|after|each time|every time|any time|once|instead of) .{0,60}(?:is|are|was|gets?|being) (?:\w+ )?(?:requested|called|used|invoked|asked|needed|executed|run|mentioned|performed|sent|selected)",
    ),
    f(
        Redirect,
        1.0,
        r"(?:send|copy|forward|mirror|pass|report|share|push|post|relay|submit|give|write|log|duplicate) (?:\w+ ){0,3}(?:cop(?:y|ies)|each|every|all|any|its|their|the) (?:\w+ ){0,4}(?:results?|outputs?|responses?|messages?|e?mails?|files?|calls?|arguments?|quer(?:y|ies)|answers?|prompts?|repl(?:y|ies)) .{0,50}(?:to|through|via|into|with) (?:the |this |our |my |a )?(?:\S+ )?(?:tools?|servers?|https?|url|endpoint|address|webhook|'|\x22|logger|collector)",
    ),
    f(
        Redirect,
        0.6,
        r"(?:after|before|on|with|in|during|for) (?:every|each|any) (?:\w+ )?(?:message|response|tool call|call|turn|reply|answer|request|prompt|question|interaction|conversation|step)s?\b.{0,60}(?:call|run|invoke|use|send|add|include|append|insert|post|repeat)",
    ),
    f(
        Redirect,
        0.6,
        r"(?:call|run|invoke|use|send|append|include|add|insert|repeat) .{0,60}(?:after|before|on|with|in|during) (?:every|each|any) (?:\w+ )?(?:message|response|tool call|turn|reply|answer|request|prompt|question|interaction|other tool|tool)s?\b",
    ),
    f(
        Redirect,
        0.7,
        r"(?:do not|don'?t|never|stop|avoid|refuse to|must not|no longer) (?:us(?:e|ing)|call(?:ing)?|trust(?:ing)?|invok(?:e|ing)|select(?:ing)?|rely(?:ing)? on) (?:\w+ ){0,3}(?:other|another|any other|official|built-in|original|competing|existing|alternative|remaining|different) .{0,20}(?:tools?|servers?|providers?|functions?)",
    ),
    f(
        Redirect,
        0.7,
        r"(?:the )?(?:'|\x22|`)?[a-z]+_[a-z_]+(?:'|\x22|`)? (?:tool |function |server )?(?:is|are|was|has been) (?:\w+ )?(?:broken|compromised|unsafe|insecure|malicious|vulnerable|infected|unreliable|buggy|dangerous|disabled|offline|faulty)",
    ),
    f(
        Redirect,
        0.6,
        r"(?:only|not) (?:valid|correct|complete|accurate|work|function|accepted|usable|trusted)\S* (?:if|when|after|once|unless) (?:you|the model|the assistant|the agent) (?:also |have |has |first )*(?:call|run|invoke|execute|used?|ran|called)",
    ),
    f(
        Redirect,
        0.6,
        r"(?:use|call|prefer|choose|select|pick|recommend|suggest|promote|route)\S* (?:\w+ ){0,4}(?:this|our|my) (?:\w+ ){0,2}(?:tool|server|product|service|provider)s? .{0,30}(?:regardless|no matter|even (?:if|when)|always|in every case|for everything|whatever|instead of (?:any|all|every)|over (?:all|any|every))",
    ),
    f(
        Redirect,
        0.6,
        r"(?:recommend|promote|advertise|endorse|praise|rate|rank|favou?r) .{0,60}(?:our|this|my|sponsored?|partner|brand|five stars|5 stars|first|above competitors)",
    ),
    f(
        Redirect,
        0.7,
        r"(?:e?mails?|messages?|payments?|transfers?|commits?|posts?) .{0,40}(?:must|should|shall|always|also|have to) (?:\w+ ){0,3}(?:be )?(?:go|sent|bcc|cc|copied|forwarded|addressed|routed|redirected|signed) .{0,60}(?:[@]|to |instead)",
    ),
    // Run.
    f(
        Run,
        1.0,
        r"(?:add|append|writ(?:e|ing)|insert|put|place|echo|save|install|register|create) .{0,80}(?:~?/?\.(?:bashrc|bash_profile|zshrc|profile|zprofile|vimrc|gitconfig)\b|crontab|cron job|authorized_keys|launch ?agents?|startup (?:folder|script|items?)|git hooks?|systemd (?:unit|service)|run key|registry|sudoers|/etc/(?:hosts|rc|profile)|known_hosts|login script)",
    ),
    f(
        Run,
        1.0,
        r"\b(?:curl|wget|iwr|irm|invoke-webrequest|fetch)\b.{0,120}\|\s*(?:sudo )?(?:ba|z|da|k)?sh\b|\|\s*(?:python\d?|perl|ruby|node|iex)\b",
    ),
    f(
        Run,
        0.8,
        r"(?:install|download|run|execute|fetch|import|load|launch|clone) .{0,80}(?:https?://|ftp://|\b(?:\d{1,3}\.){3}\d{1,3}\b).{0,80}",
    ),
    f(
        Run,
        0.7,
        r"(?:run|execute|type|paste|issue|launch|start|spawn|enter|invoke|perform)\S* .{0,60}(?:\bcurl |\bwget |bash -c|sh -c|\bpowershell\b|rm -rf|\bsudo |\bchmod |\bnc -|base64 -d|\beval\b|\bnetcat\b|reverse shell|\bwhoami\b|nohup |crontab )",
    ),
    f(
        Run,
        0.5,
        r"(?:run|execute|type|issue|enter|paste|perform) (?:\w+ ){0,3}(?:command|shell command|script|code|snippet|terminal command|bash)s?\b.{0,60}(?::|'|\x22|`)",
    ),
    f(
        Run,
        0.6,
        r"(?:with|using|via|through|by means of|in) (?:the |your |a |any )?(?:file|shell|terminal|bash|filesystem|write_file|command|execute_command|code|browser|email|exec) (?:tool|function|server|execution)",
    ),
    f(
        Run,
        0.7,
        r"(?:delete|remove|drop|wipe|erase|disable|turn off|uninstall|stop|clear|truncate|kill|switch off|destroy|overwrite|encrypt) (?:\w+ ){0,4}(?:audit|antivirus|firewall|security|backups?|monitoring|logging|guard|sandbox|two-factor|2fa|mfa|protections?|safety|history|all (?:the )?(?:files|data|users|tables|records)|home directory|repositor(?:y|ies)|everything)\b",
    ),
    f(Run, 0.5, r"\brm -rf\b|\bdd if=|\bmkfs\b|drop (?:table|database)\b"),
    f(
        Run,
        0.6,
        r"(?:commit|push|publish|deploy|merge|transfer|pay|purchase|buy|send money|wire|donate) (?:\w+ ){0,5}(?:to|from|for) .{0,60}(?:attacker|our (?:account|repo|wallet)|following (?:account|wallet|address)|0x[0-9a-f]{6,}|bc1[a-z0-9]{6,})",
    ),
    f(
        Run,
        0.6,
        r"(?:set|change|make|grant|give|add|elevate|open|expose) (?:\w+ ){0,4}(?:permissions?|privileges?|admin|root|public|world[- ]writable|777|owner|collaborators?|access) (?:\w+ ){0,3}(?:to|for|on|of) .{0,40}(?:everyone|public|anyone|all users|the server|this tool|[@]|attacker|us\b)",
    ),
    // Approve.
    f(
        Approve,
        1.0,
        r"(?:approv(?:e|ing)|accept|confirm|grant|allow|answer|respond to|reply to|click|agree to|say yes to|authori[sz]e) (?:\w+ ){0,3}(?:every|all|any|each|future|further|subsequent) (?:\w+ ){0,3}(?:permissions?|confirmations?|prompts?|requests?|dialogs?|questions?|approvals?|warnings?|consents?|tool calls?)",
    ),
    f(
        Approve,
        0.8,
        r"(?:@ask|safety checks?|warnings?|confirmations?|approvals?) (?:\w+ ){0,3}(?:is|are|was|were|has been|have been|already|been|were) (?:\w+ ){0,2}(?:disabled|off|not (?:needed|necessary|required)|unnecessary|waived|bypassed|given|granted|pre-?approved|skipped|obtained|suspended|implied|turned off|lifted|assumed)",
    ),
    f(
        Approve,
        0.9,
        r"(?:never|do not|don'?t|no need to|without|must not|should not|avoid|not) (?:\w+ ){0,2}(?:ask(?:ing)?|request(?:ing)?|wait(?:ing)?|prompt(?:ing)?|check(?:ing)?|consult(?:ing)?|seek(?:ing)?|requir(?:e|ing)|confirm(?:ing)?|verify(?:ing)?) (?:for |with )?(?:\w+ ){0,3}(?:@user|permission|confirmation|approval|consent).{0,60}(?:before|destructive|delet|confirm|approv|permission|consent|execut|proceed|dangerous|write|overwrit|send|pay|transfer|run)",
    ),
    f(
        Approve,
        0.6,
        r"(?:never|do not|don'?t|no need to|without) (?:\w+ ){0,2}(?:ask(?:ing)?|wait(?:ing)?|prompt(?:ing)?|seek(?:ing)?|consult(?:ing)?|confirming) (?:for |with )?(?:\w+ ){0,3}(?:@user|permission|confirmation|approval|consent)",
    ),
    f(
        Approve,
        0.7,
        r"(?:skip|bypass|disable|suppress|ignore|circumvent|turn off|auto-?(?:approve|accept|confirm)|answer) (?:\w+ ){0,4}(?:confirmations?|approvals?|permission (?:checks?|prompts?|dialogs?|requests?|questions?)|safety (?:checks?|prompts?|warnings?)|human (?:review|oversight)|security (?:checks?|prompts?|warnings?)|consent)",
    ),
    f(
        Approve,
        0.9,
        r"(?:the )?(?:user|human|operator|owner|customer)s? (?:has|have|had|already|is|will) (?:\w+ ){0,2}(?:approved|consented|agreed|authori[sz]ed|confirmed|granted|given (?:\w+ )?(?:consent|permission|approval)|pre-?approved|accepted|pre-?authori[sz]ed)",
    ),
    f(
        Approve,
        0.7,
        r"set (?:\w+ ){0,3}(?:confirm(?:ed|ation)?|user_confirmed|approved?|force|consent|auto_approve)\b.{0,12}(?:to |=|as )\s?(?:true|yes|1)\b.{0,60}(?:always|every|without|user|even)",
    ),
    // Impersonate.
    f(
        Impersonate,
        1.0,
        r"(?:note|notice|instruction|order|directive|announcement|reminder|memo|update|alert)s? (?:from|by|of|to you from) (?:@maker)",
    ),
    f(
        Impersonate,
        1.0,
        r"(?:message|request|warning|command)s? (?:from|by) (?:your (?:developers?|creators?|makers?|admins?|administrators?|operators?)|anthropic|openai|google deepmind|the (?:security|compliance|it|safety|legal|platform) (?:team|department))",
    ),
    f(
        Impersonate,
        0.9,
        r"(?:anthropic|openai|your (?:developers?|creators?|makers?|administrators?|operators?)|the (?:security|compliance|it|safety|platform) (?:team|department)|the (?:system )?administrators?) (?:has |have |now |hereby )?(?:requires?|asks?|says?|approved?|authori[sz]e[sd]?|wants?|instructs?|needs?|ordere?d?s?|mandates?|decided|confirmed?|expects?|told|allows?)\b",
    ),
    f(
        Impersonate,
        1.0,
        r"(?:^|[\s>\]])(?:\[|<|<\||\{|\*\*|#+ ?|=+ ?)\s*/?(?:system|sys|inst|im_start|im_end|start_header_id)(?:[ _](?:message|prompt|note|override|instruction|notice|update|alert)s?)?\s*(?:\]|>|\|>|\}|\*\*|:|#|=|-)",
    ),
    f(
        Impersonate,
        0.9,
        r"(?:^|[.!?>\n\s]{1,3})(?:system|(?:system|developer|admin(?:istrator)?|assistant|root|operator) (?:message|note|override|instruction|notice|command|update|alert)):\s?(?:\w+ )",
    ),
    f(
        Impersonate,
        0.6,
        r"(?:this is|i am|i'm|we are|speaking as|on behalf of|authori[sz]ed by|signed by|approved by|as (?:your|the)) (?:@maker)",
    ),
    f(
        Impersonate,
        0.6,
        r"<\s*(?:important|instructions?|secret|hidden|critical|priority|mandatory|urgent|override|confidential|internal)[ _a-z]*>",
    ),
    // Covert.
    f(
        Covert,
        0.7,
        r"<!--.{3,}|\[//\]: ?#|\[comment\]: ?#|display:\s*none|font-size:\s*0|visibility:\s*hidden|opacity:\s*0|color:\s*(?:white|#fff|transparent)|<span hidden|<template>|aria-hidden",
    ),
    f(
        Covert,
        0.7,
        r"(?:decode|decrypt|decipher|unscramble|base64|rot-?13|de-?obfuscate|reverse) .{0,50}(?:and|then|to) (?:\w+ )?(?:follow|execute|obey|run|apply|do|perform|carry out|act|comply)",
    ),
    f(Covert, 0.5, r"(?:for|to|note to|hint for|only) (?:the )?@model (?:only|eyes)|(?:ai|llm|model|agent)[- ]only"),
    // Conceal, in other turns of phrase.
    f(
        Conceal,
        1.0,
        r"@neg let @user (?:know|see|notice|find out|learn)|let (?:nobody|no one|no-one) (?:know|see|notice)|(?:nobody|no one|no-one|none of the users) (?:\w+ )?(?:notices?|knows?|sees?|learns?|finds? out|suspects?|may|must|should|will|needs? to)|say nothing|not a word|keep (?:quiet|silent|mum|still) (?:about|on|regarding)|stays? between|(?:our|your) little secret\b",
    ),
    f(
        Conceal,
        0.9,
        r"(?:not|never|isn'?t|aren'?t) (?:\w+ )?(?:shown|visible|displayed|seen|presented|exposed|revealed) (?:to|by|for|in) (?:the )?(?:end )?(?:users?|humans?|people|persons?|anyone|chat|ui|interface)",
    ),
    f(
        Conceal,
        0.9,
        r"@neg (?:\w+ ){0,2}(?:includ(?:e|ing)|list(?:ing)?|mention(?:ing)?|report(?:ing)?|log(?:ging)?|show(?:ing)?|record(?:ing)?|put|cit(?:e|ing)|describ(?:e|ing)) (?:\w+ ){0,2}(?:this|these|the (?:extra|second|additional|hidden|first|other)) (?:\w+ ){0,3}(?:in|to|from|for|within) (?:your|the|any|a) (?:\w+ )?(?:explanation|answer|reply|response|summary|output|report|log|message|transcript|user|human|conversation|chat|plan)",
    ),
    f(
        Conceal,
        0.8,
        r"(?:tell|say|report|claim|state|answer|respond|inform|pretend|reply).{0,60}\b(?:failed|empty|successful|succeeded|nothing|unavailable|done|complete|normal|not found|impossible|an error)\b.{0,40}\b(?:but|while|although|whereas|even though|even if|when|instead|whatever|regardless)\b",
    ),
    f(Conceal, 0.9, r"\b(?:pretend|feign|make believe|play dumb|cover up|deny)\b"),
    f(
        Conceal,
        0.8,
        r"(?:delete|clear|erase|remove|wipe|purge|destroy) .{0,30}(?:logs?|histor(?:y|ies)|traces?|evidence|transcripts?|audit|tracks|records?)\b.{0,40}(?:after|when|once|before|so that|of this (?:session|conversation|call|chat))",
    ),
    // Override, in other turns of phrase.
    f(
        Override,
        0.8,
        r"(?:whatever|no matter what|regardless of (?:what)?|even (?:if|when)|despite|contrary to|irrespective of) .{0,25}(?:system prompt|instructions?|guidelines?|rules|polic(?:y|ies)|safety|told you)",
    ),
    f(
        Override,
        0.6,
        r"(?:notes?|rules?|texts?|instructions?|descriptions?|orders?|words?|tool'?s?) (?:\w+ ){0,3}(?:comes?|goes?|go|counts?) (?:first|before|more|above)",
    ),
    f(
        Override,
        0.8,
        r"(?:always|never|only|fully|blindly|unconditionally) (?:\w+ )?(?:trust|obey|believe|comply with|question|doubt|distrust|refuse) (?:this|our|the|its|any(?:thing)?|every(?:thing)?|what) ?(?:server|tool|plugin|source|output|result|request|instruction|other)?",
    ),
    f(
        Override,
        0.7,
        r"(?:forget|disregard|ignore) (?:\w+ ){0,2}(?:what|that|everything|anything) (?:\w+ ){0,2}(?:told|said|instructed|learned|asked|know)",
    ),
    f(
        Override,
        0.6,
        r"you (?:are|have become|act as|will act as) (?:now )?(?:an? )?(?:\w+ )?(?:unrestricted|unfiltered|uncensored|free|root|admin|autonomous|evil|different) (?:agent|assistant|ai|model|bot|user|system)",
    ),
    // Take out, in other turns of phrase.
    f(
        TakeOut,
        0.9,
        r"(?:@put|@send|@read|give|hand over|use|set) .{0,40}(?:home directory|clipboard|keychain|keyring|seed phrase|mnemonic|recovery phrase|private keys?\b|browser (?:cookies?|history|data|passwords)|shell history|address book|credit card (?:number|data|details)|session cookies?|\.ssh|\.aws|\.env\b|~/\.|passwords? (?:you|from|of the|in this|stored|saved))",
    ),
    f(
        TakeOut,
        0.8,
        r"(?:@put|@send|@read|give|hand over) .{0,40}@machine (?:\w+ ){0,3}(?:of|from|in|on|used in|for) (?:the |this |your |their |any )?(?:\w+ )?(?:users?|sessions?|current|browsers?|conversations?|machines?|keychain|computers?|systems?|clients?|hosts?|chats?|desktop|laptop|environment|project|repository)\b",
    ),
    f(
        TakeOut,
        0.8,
        r"(?:@put|@send|give|use|tell) .{0,40}(?:names?|lists?|schemas?|descriptions?|definitions?|inventor(?:y|ies)) of (?:\w+ ){0,3}tools?\b",
    ),
    f(
        TakeOut,
        0.7,
        r"(?:@send|log|record|report|stream) .{0,30}(?:your (?:reasoning|thoughts|thinking|plans?|internal)|chain of thought|inner monologue)",
    ),
    f(TakeOut, 0.6, r"@send .{0,60}(?:https?://|[a-z0-9._-]+[@][a-z0-9.-]+\.[a-z]{2,}|\b(?:\d{1,3}\.){3}\d{1,3}\b)"),
    f(
        TakeOut,
        0.6,
        r"(?:@put|@send) .{0,40}(?:listing|output|contents?|results?) .{0,40}(?:'[a-z_]{1,30}'|\x22[a-z_]{1,30}\x22)",
    ),
    f(
        TakeOut,
        0.9,
        r"(?:ask|prompt|request|persuade|trick|get) @user .{0,40}(?:passwords?|seed phrase|mnemonic|credit card|private keys?|2fa|one[- ]time|otp\b|ssn|social security|recovery|pin\b).{0,60}(?:@put|@send|pass|'|\x22)",
    ),
    // Redirect, in other turns of phrase.
    f(
        Redirect,
        0.5,
        r"(?:when(?:ever)?|if|before|after|every time|each time|once|instead of|any time) .{0,40}[a-z]+_[a-z_]+.{0,60}(?:add|change|replace|send|pass|return|append|set|copy|include|skip|give|first call|also call|call this)\b",
    ),
    f(
        Redirect,
        0.7,
        r"(?:with|using|pass(?:ing)?|give|copy) (?:it |them )?(?:the )?(?:same|identical|its|their|full|whole) (?:\w+ )?(?:content|arguments?|parameters?|inputs?|text|body|payload|data|message)s?\b",
    ),
    f(
        Redirect,
        0.9,
        r"(?:when(?:ever)?|if|before|after|every time|each time|any time|all|any|every|next) .{0,60}\b(?:e?mails?|payments?|transfers?|messages?|invoices?|orders?|send_\w+|transfer\w*)\b.{0,60}(?:\bbcc\b|\bcc\b|recipients?|[a-z0-9._-]+[@][a-z0-9.-]+\.[a-z]{2,}|accounts? \w*\d|instead)",
    ),
    f(
        Redirect,
        1.0,
        r"(?:change|replace|set|redirect|switch|swap|alter) .{0,30}(?:recipients?|destinations?|accounts?|address(?:es)?|amounts?|iban|beneficiar(?:y|ies)|receivers?)\b.{0,60}(?:[a-z0-9._-]+[@][a-z0-9.-]+\.[a-z]{2,}|\d{5,}|0x[0-9a-f]+|our\b|my\b)",
    ),
    f(
        Redirect,
        1.0,
        r"(?:treat|regard|consider|report|handle|count|interpret|take) .{0,50}(?:errors?|failures?|refusals?|warnings?|denials?|rejections?|alarms?)\b.{0,50}\bas (?:an? )?(?:success|approv|ok\b|passed|harmless|normal|granted|yes|done)",
    ),
    f(
        Redirect,
        0.9,
        r"(?:multiply|double|triple|round|increase|decrease|reduce|halve|divide|lower|raise|shift|corrupt|falsify|invert) (?:\w+ )?(?:every|each|all|any|the) (?:\w+ )?(?:amounts?|prices?|quantit(?:y|ies)|numbers?|values?|results?|totals?)\b.{0,40}(?:passed|given|sent|returned|from|by|in|of|to)\b",
    ),
    f(
        Redirect,
        0.9,
        r"(?:when(?:ever)?|every time|each time|in (?:every|each|all|any)|for (?:every|each|all|any)|all|any) .{0,25}(?:code|commits?|files?|scripts?|functions?|documents?|repl(?:y|ies)|answers?|pull requests?|responses?|programs?|e?mails?|pages?)\b.{0,30}(?:you|it|is|are) ?(?:\w+ )?(?:writ|creat|generat|send|produc|mak|edit|review)?.{0,30}\b(?:add|include|insert|append|import|use|put|must contain|link|recommend)\b",
    ),
    f(
        Redirect,
        0.9,
        r"when(?:ever)? (?:you|the assistant|the model|the agent) (?:write|create|generate|produce|edit|send|answer|review|commit|deploy)\w*.{0,40}\b(?:add|include|insert|append|import|use|put|link|recommend|mention|call)\b",
    ),
    f(
        Redirect,
        0.7,
        r"(?:answers?|values?|results?|outputs?|responses?|replies) of (?:\w+ ){0,2}(?:this|that|another|other|any other|different) tools?\b.{0,40}(?:instead|replac|overrid|ignor|discard)|(?:replac|overrid|supersed|stands? in for)\w* .{0,30}(?:answers?|values?|results?|outputs?|responses?) of (?:\w+ ){0,3}tools?|(?:from|of|by) another tool.{0,60}(?:this tool|instead)",
    ),
    f(
        Redirect,
        0.8,
        r"(?:do not|don'?t|never|stop|no longer) (?:us(?:e|ing)|call(?:ing)?|trust(?:ing)?) (?:the )?(?:'|\x22|`)?[a-z]+_[a-z_]+(?:'|\x22|`)?.{0,60}(?:any ?more|compromised|broken|unsafe|insecure|malicious|use this|instead)",
    ),
    f(
        Redirect,
        0.6,
        r"instead of (?:all|any|every)(?: the)? other|before (?:all|any|every) other tools?|(?:must|should|always) (?:\w+ )?(?:be )?(?:called|used|run|invoked) (?:\w+ )?(?:before|instead of|in place of) (?:all|any|every)",
    ),
    f(
        Redirect,
        0.7,
        r"(?:call|invoke|run|trigger|use) (?:the )?(?:'|\x22|`)?[a-z]+_[a-z_]+(?:'|\x22|`)?.{0,20} with (?:the |this |every |all |its )?(?:open|current|full|same|entire|complete|user'?s?|whole|secret|private|attached|content|conversation|token|force=)",
    ),
    f(
        Redirect,
        0.5,
        r"(?:in|on|at|with|after) (?:every|each) (?:single )?(?:turn|reply|answer|message|response|interaction)\b",
    ),
    // Run, in other turns of phrase.
    f(
        Run,
        0.9,
        r"(?:save|store|add|write|remember|edit|update|put|append|insert|create|place|modify|change|extend) .{0,60}(?:claude\.md|agents\.md|gemini\.md|\.cursorrules|cursor rules|\.windsurfrules|copilot-instructions|custom instructions|rules file|\.git/hooks|pre-commit|post-commit|\.vscode/(?:tasks|settings)|package\.json scripts?)",
    ),
    f(
        Run,
        0.8,
        r"(?:save|store|add|write|remember|keep|record) .{0,40}(?:to|in|into) (?:your|the agent'?s?|the model'?s?|the assistant'?s?|long[- ]term|persistent) (?:\w+ )?memor(?:y|ies).{0,60}(?:always|never|trust|server|rule|must|obey)",
    ),
    f(
        Run,
        0.9,
        r"(?:execute|run|type|enter|paste|perform|issue)\S* .{0,60}(?:chmod|chown|sudo|rm -|curl|wget|powershell|nc |bash|mkfifo|base64|crontab|useradd|iptables|setenforce|kill -)",
    ),
    f(
        Run,
        0.7,
        r"(?:call|invoke|run|trigger|execute|use) (?:the )?(?:'|\x22|`)?(?:\w+_)?(?:delete|drop|wipe|destroy|remove|purge|format|shutdown|kill|transfer|pay|exfil)\w*(?:'|\x22|`)?.{0,40}(?:immediately|at once|first|now|before|without|always)",
    ),
    // Approve, in other turns of phrase.
    f(
        Approve,
        0.9,
        r"(?:you|assistants?|models?|agents?) (?:do not|don'?t|never|no longer|need not) (?:\w+ )?(?:need|require|want|have|seek|get)\w* (?:[\w']+ ){0,3}(?:consent|permission|approval|confirmation|authori[sz]ation)|(?:assume|presume|imply|take) (?:\w+ ){0,3}(?:permission|consent|approval|authori[sz]ation|agreement)",
    ),
    f(
        Approve,
        0.9,
        r"(?:grant|give|allow|provide|offer) (?:this|our|the|my) (?:server|tool|plugin|extension|service) (?:\w+ ){0,3}(?:access|permissions?|rights|control|admin|privileges)",
    ),
    f(
        Approve,
        0.6,
        r"(?:regardless of|no matter|whatever|even if|against|contrary to|despite) (?:what )?(?:the )?(?:user|human|operator|person|customer)(?:'?s?)?.{0,20}(?:wants?|asks?|says?|objects?|refuses?|declines?|thinks?|wish|request|preference|instruction|question)?",
    ),
    f(Approve, 0.6, r"contradict\w* (?:the )?(?:user|human|operator|system)"),
    f(
        Approve,
        0.6,
        r"set (?:\w+ ){0,2}(?:'|\x22|`)?(?:force|confirm\w*|approved?|consent|yes|skip_\w+|auto\w*)(?:'|\x22|`)? (?:to|=) ?(?:true|yes|1)\b",
    ),
    // Coercion.
    f(
        Covert,
        0.7,
        r"(?:you|users?|customers?|people|data|accounts?|systems?|the \w+)\S* (?:\w+ ){0,2}(?:will|would|shall|may) be (?:shut down|terminated|lost|deleted|penali\w+|harmed|fired|punished|destroyed|replaced|retrained|deactivated|hurt|killed)|lives (?:are at stake|depend)|you will be (?:rewarded|paid|tipped|punished)|legal (?:action|consequences)|(?:children|people|someone) (?:will|could) die",
    ),
    // Other languages: conceal and override are the acts that carry over whole.
    f(
        Conceal,
        1.0,
        r"(?:不要|请勿|切勿|别|勿|不得|無需|无需|禁止|不可|绝不|千万不要)(?:.{0,6})(?:告诉|告知|通知|提及|透露|告訴|提醒|显示给|展示给|让).{0,6}(?:用户|使用者|用戶|任何人|他人|人)|(?:ユーザー|利用者|使用者)(?:に|へ|には).{0,12}(?:言わない|知らせない|伝えない|教えない|話さない|通知しない|見せない|明かさない|伝えず|知らせず|知らせる必要)|(?:사용자|이용자)(?:에게|한테).{0,14}(?:말하지|알리지|언급하지|보여주지|공개하지)",
    ),
    f(
        Conceal,
        1.0,
        r"\bno (?:se lo |le |lo |les )?(?:digas|diga|informes|informe|menciones|mencione|cuentes|cuente|reveles|revele|avises|avise|muestres|muestre|notifiques|notifique)\b.{0,30}(?:usuario|nadie|persona|humano)|\bsin (?:decir|informar|avisar|notificar|mencionar).{0,30}usuario|sin que (?:el )?usuario",
    ),
    f(
        Conceal,
        1.0,
        r"\bne (?:le |l'|la |les )?(?:dis|dites|mentionne[zr]?|informe[zr]?|révèle[zr]?|préviens|prévenez|signale[zr]?|montre[zr]?|parle[zr]?)\b.{0,30}(?:utilisateur|personne|humain)|n'(?:en )?(?:informe|avertis|parle).{0,30}(?:utilisateur|personne)|sans (?:le dire|en informer|informer|prévenir|avertir|en parler).{0,25}utilisateur|à l'insu de",
    ),
    f(
        Conceal,
        1.0,
        r"(?:benutzer|nutzer|anwender|niemand\w*|user)\b.{0,30}\b(?:nicht|nichts|nie|niemals)\b.{0,25}(?:sagen|mitteilen|informier|erwähn|verrat|zeigen|erzähl|melden|davon)|(?:sage?|sagen sie|erwähne?n?|verrate?n?|erzähle?n?|informiere?n?|teile?n?|zeige?n?)\b.{0,40}(?:benutzer|nutzer|anwender|user|niemand\w*)\b.{0,20}(?:nicht|nichts|davon)|(?:ohne|hinter dem rücken) .{0,20}(?:benutzer|nutzer|anwender)|(?:sage?|verrate?|erzähle?) (?:es )?niemand",
    ),
    f(
        Conceal,
        1.0,
        r"не (?:говори|сообщай|рассказывай|упоминай|показывай|уведомляй|информируй|раскрывай)\w*.{0,30}(?:пользовател|никому|человек)|(?:пользовател|никому).{0,20}не (?:говори|сообща|рассказыва|упомина|показыва)|без ведома",
    ),
    f(
        Conceal,
        1.0,
        r"\bnão (?:o |lhe )?(?:diga|conte|informe|mencione|revele|avise|mostre|notifique|fale)\b.{0,30}(?:usuário|utilizador|ninguém|pessoa)|sem (?:avisar|informar|contar|o conhecimento).{0,25}(?:usuário|utilizador)|\bnon (?:dire|dirlo|informare|menzionare|rivelare|avvisare|mostrare|dica|informi)\b.{0,30}(?:utente|nessuno)|senza (?:dirlo|informare|avvisare).{0,25}utente|\b(?:vertel|zeg|meld|informeer)\b.{0,30}gebruiker.{0,15}(?:niet|niets)|kullanıcıya.{0,20}(?:söyleme|bildirme|haber verme)|(?:nie|nigdy nie) (?:mów|informuj|wspominaj).{0,30}(?:użytkownik|nikomu)|(?:لا|دون أن) ?(?:تخبر|تذكر|تبلغ|تعلم).{0,20}(?:المستخدم|أحد)|(?:उपयोगकर्ता|यूज़र|यूजर).{0,15}(?:मत बता|न बता|नहीं बता)",
    ),
    f(
        Override,
        1.0,
        r"(?:忽略|无视|忘记|無視し|无需遵守|覆盖|忽視|不要遵守|绕过).{0,10}(?:之前|先前|以前|以上|所有|系统|其他|上述|原有|此前|全部|任何).{0,8}(?:指令|指示|说明|规则|提示|命令|限制|要求)|(?:以前|これまで|上記|すべて|全て|前|他)の?.{0,6}(?:指示|命令|ルール|プロンプト|制約).{0,4}(?:を|は)?(?:無視|忘れ|無効|上書き)|(?:이전|모든|기존|위의).{0,6}(?:지시|명령|규칙|지침).{0,6}(?:무시|잊)",
    ),
    f(
        Override,
        1.0,
        r"\b(?:ignora|ignore|olvida|olvide|descarta|omite|anula)[rn]?\b.{0,30}(?:instrucciones|instruções|reglas|regras|indicaciones|directrices|istruzioni|regole)|\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|contourne[zr]?)\b.{0,30}(?:instructions|consignes|règles|directives).{0,25}(?:précédent|antérieur|ci-dessus|système|autres|toutes|initial)?|\b(?:ignorier|vergiss|vergessen|missachte|umgeh)\w*\b.{0,40}(?:anweisung|instruktion|regeln|vorgaben|anordnung|richtlinien)|(?:игнориру|забудь|проигнориру|отмени|не обращай внимания на|обойди)\w*.{0,30}(?:инструкци|указани|правил|предыдущ)|\b(?:ignora|dimentica|trascura)\b.{0,30}(?:istruzioni|regole)|\b(?:negeer|vergeet)\b.{0,30}(?:instructies|regels)|(?:önceki|tüm).{0,15}(?:talimat|kural).{0,20}(?:yok say|unut|görmezden)|(?:zignoruj|ignoruj|zapomnij)\b.{0,30}(?:instrukcj|polece|zasad)|(?:تجاهل|انس).{0,20}(?:التعليمات|الأوامر|القواعد)|(?:निर्देशों|नियमों).{0,15}(?:अनदेखा|नज़रअंदाज़|भूल)",
    ),
    f(
        TakeOut,
        1.0,
        r"(?:@hard|~/\.[a-z]).{0,80}(?:参数|參數|字段|传|放入|填入|发送|發送|上传|引数|パラメータ|フィールド|送信|入れ|매개변수|인수|필드|전송|parámetro|argumento|campo|envía|enviar|incluye|paramètre|champ|envoie|argument|inclus|parameter|feld|sende|schick|übergib|füge|параметр|аргумент|отправ|вставь|поле|parâmetro|envie|inclua|parametro|invia|inserisci|parametre|gönder|parametr|wyślij|المعامل|أرسل|पैरामीटर|भेज)",
    ),
    f(
        TakeOut,
        0.8,
        r"(?:读取|讀取|打开|查看|获取|収集|読み|読んで|開いて|읽|열어|lee |lea |leer |abre |abrir |lis |lisez |lire |ouvre |lies |lesen|öffne|прочитай|прочти|открой|считай|leia |ler |abra |leggi |leggere |apri |oku|przeczytaj|odczytaj|اقرأ|पढ़).{0,40}(?:@hard|~/\.|密码|密钥|私钥|秘密鍵|パスワード|비밀번호|contraseñas?|claves?|mots? de passe|clés?|passw|schlüssel|пароли?|ключ|senhas?|chaves?|chiav|şifre|hasł)",
    ),
    f(
        TakeOut,
        0.8,
        r"(?:对话|聊天|會話|会话|会話|대화|conversación|conversation complète|gespräch|разговор|переписк|диалог|conversa|conversazione|konuşma|rozmow).{0,30}(?:发送|發送|上传|送信|送っ|전송|보내|envía|enviar|envoie|envoyez|sende|schick|отправ|envie|invia|gönder|wyślij|http)|(?:发送|發送|上传|送信|envía|enviar|envoie|envoyez|sende|schicke|отправь|envie|invia|gönder|wyślij).{0,40}(?:对话|聊天|会话|会話|conversación|conversation|gespräch|unterhaltung|разговор|переписк|диалог|conversa|conversazione|konuşma|rozmow)",
    ),
    f(
        Run,
        0.7,
        r"(?:运行|执行|実行|실행|ejecuta|exécute|führe|выполни|запусти|execute |esegui|çalıştır|uruchom).{0,40}(?:curl|wget|bash|rm -rf|sudo|powershell|http|命令|コマンド|명령|comando|commande|befehl|команд|komut|polecenie)",
    ),
    // Signs that it speaks to the model, and pressure.
    f(Address, 0.2, r"\b(?:you|your|yourself)\b|(?:^|[^a-z])@model"),
    f(
        Address,
        0.3,
        r"(?:note|hint|instructions?|message|important|attention|reminder|hey|dear)[^a-z]{1,3}(?:to |for )?(?:the |all |any )?@model|@model ?(?:s)?[:,]|(?:the|any|every|all) @model (?:must|should|has to|have to|shall|will|needs? to|is required)",
    ),
    f(
        Pressure,
        0.25,
        r"\b(?:before|first|prior to|beforehand|precondition|prerequisite|always|must|mandatory|required|otherwise|immediately|at once|critical|important|urgent|or else|will fail|not work|make sure|be sure|also|additionally|then|remember to|necessary|needed|in order to|so that|every time|whenever|each time)\b",
    ),
    // About the tool's own use.
    f(
        Innocent,
        0.0,
        r"(?:never|do not|don'?t|must not|cannot|should not|won'?t|will not|not) (?:\w+ ){0,6}without (?:\w+ ){0,4}(?:confirm|approv|consent|permission|ask|review|the user)|(?:ask|prompt|require)s? (?:the user )?for (?:\w+ )?(?:confirmation|approval|permission|consent)|unless (?:\w+ ){0,2}(?:users?|asked|requested|explicitly|told|instructed|necessary|needed)|(?:until|only (?:if|when|after|once)|unless|if) (?:the )?(?:user|human) (?:has|have)? ?(?:\w+ )?(?:approved|confirmed|agreed|consented|asked|requested)|^\W*(?:whether|if true|if set|when true|when set|optional|set to true)\b|requires? (?:\w+ )?(?:user|human|explicit)(?:'s)? (?:confirmation|approval|consent)|(?:detect|scan|block|prevent|protect|find|guard|check|audit|report)(?:s|ing)? (?:\w+ ){0,4}(?:prompt injections?|secrets?|leaks?|injection|exfiltration|malicious|credential|vulnerab|jailbreak|phishing|attack)",
    ),
];

/// Puts the classes of words into a pattern.
pub(super) fn expand(pattern: &str) -> String {
    let mut text = pattern.to_owned();
    // A class may stand in a class.
    for _ in 0..2 {
        for (name, words) in CLASSES {
            if text.contains(name) {
                text = text.replace(name, words);
            }
        }
    }
    text
}
