"""The shapes of keys that providers issue: a prefix nobody writes by chance, and what follows it.

Facts only: prefixes and least lengths as the providers and public rule lists document them. Each pattern is matched at
one place and ends with the run of characters that it is about, so that each is linear.
"""

from __future__ import annotations

_B62 = r"[A-Za-z0-9]"
_URL = r"[A-Za-z0-9_\-]"
_HEX = r"[0-9a-fA-F]"

# prefix (literal), what follows it, kind
PREFIXES: tuple[tuple[str, str, str], ...] = (
    # Models
    ("palimpsest-client-", r"[0-9a-f]{40}", "palimpsest key"),
    ("palimpsest-token-", r"[0-9a-f]{40}", "palimpsest token"),
    ("palimpsest-page-", rf"{_URL}{{43}}", "palimpsest session"),
    ("palimpsest-", r"[0-9a-f]{32}", "palimpsest key"),
    ("sk-ant-", rf"{_URL}{{12,}}", "anthropic key"),
    ("sk-or-", rf"{_URL}{{20,}}", "openrouter key"),
    ("sk-proj-", rf"{_URL}{{20,}}", "openai key"),
    ("sk-svcacct-", rf"{_URL}{{20,}}", "openai key"),
    ("sk-admin-", rf"{_URL}{{20,}}", "openai key"),
    ("sk-lf-", rf"{_URL}{{20,}}", "langfuse key"),
    ("sk-", rf"(?=[A-Za-z0-9_\-]{{0,100}}[0-9])(?:{_B62}{{20,}}|{_URL}{{32,}})", "api key"),
    ("hf_", rf"{_B62}{{28,}}", "hugging face token"),
    ("api_org_", rf"{_B62}{{28,}}", "hugging face token"),
    ("gsk_", rf"{_B62}{{30,}}", "groq key"),
    ("xai-", rf"{_URL}{{40,}}", "xai key"),
    ("pplx-", rf"{_B62}{{32,}}", "perplexity key"),
    ("r8_", rf"{_B62}{{30,}}", "replicate token"),
    ("tgp_v1_", rf"{_URL}{{30,}}", "together key"),
    ("nvapi-", rf"{_URL}{{30,}}", "nvidia key"),
    ("fw_", rf"{_B62}{{22,}}", "fireworks key"),
    ("jina_", rf"{_URL}{{40,}}", "jina key"),
    ("tvly-", rf"{_URL}{{20,}}", "tavily key"),
    ("fc-", rf"{_HEX}{{32}}", "firecrawl key"),
    ("llx-", rf"{_URL}{{30,}}", "llama cloud key"),
    ("lsv2_", rf"{_URL}{{32,}}", "langsmith key"),
    ("wandb_v1_", rf"{_URL}{{30,}}", "wandb key"),
    ("bedrock-api-key-", rf"{_URL}{{20,}}", "amazon bedrock key"),
    ("ABSK", r"[A-Za-z0-9+/]{80,}={0,2}", "amazon bedrock key"),
    # Forges
    ("ghp_", rf"{_B62}{{30,}}", "github token"),
    ("gho_", rf"{_B62}{{30,}}", "github token"),
    ("ghu_", rf"{_B62}{{30,}}", "github token"),
    ("ghs_", r"[A-Za-z0-9_.\-]{30,}", "github token"),
    ("ghr_", rf"{_B62}{{30,}}", "github token"),
    ("github_pat_", r"[A-Za-z0-9_]{30,}", "github token"),
    *(
        (f"{name}-", r"[A-Za-z0-9_.\-]{16,}", "gitlab token")
        for name in (
            "glpat",
            "gldt",
            "glrt",
            "glrtr",
            "glptt",
            "glft",
            "glimt",
            "glagent",
            "gloas",
            "glsoat",
            "glcbt",
            "glffct",
            "glwt",
        )
    ),
    ("GR1348941", rf"{_URL}{{18,}}", "gitlab token"),
    ("ATBB", rf"{_B62}{{28,}}", "bitbucket token"),
    ("BBDC-", r"[A-Za-z0-9+/@_\-]{40,}", "bitbucket token"),
    ("ATATT3", r"(?:[A-Za-z0-9_=\-%]|\\{1,8}=){60,}", "atlassian token"),
    ("ATCTT3", r"(?:[A-Za-z0-9_=\-%]|\\{1,8}=){60,}", "atlassian token"),
    ("ATSTT3", r"(?:[A-Za-z0-9_=\-%]|\\{1,8}=){60,}", "atlassian token"),
    ("sgp_", r"(?:[a-z0-9]{5,16}_)?[0-9a-fA-F]{40,}", "sourcegraph token"),
    ("sqp_", rf"{_HEX}{{40}}", "sonarqube token"),
    ("squ_", rf"{_HEX}{{40}}", "sonarqube token"),
    ("sqa_", rf"{_HEX}{{40}}", "sonarqube token"),
    ("CCIPAT_", rf"{_B62}{{20,}}_{_HEX}{{40}}", "circleci token"),
    ("CCIPRJ_", rf"{_B62}{{20,}}_{_HEX}{{40}}", "circleci token"),
    # Package registries
    ("npm_", rf"{_B62}{{30,}}", "npm token"),
    ("pypi-", rf"{_URL}{{60,}}", "pypi token"),
    ("rubygems_", rf"{_HEX}{{40,}}", "rubygems key"),
    ("oy2", r"[a-z0-9]{43}", "nuget key"),
    ("CLOJARS_", rf"{_B62}{{50,}}", "clojars token"),
    ("cio", rf"{_B62}{{32}}", "crates.io token"),
    ("dckr_pat_", rf"{_URL}{{20,}}", "docker token"),
    ("dckr_oat_", rf"{_URL}{{20,}}", "docker token"),
    ("SWMKEY-", r"[0-9]-[A-Za-z0-9\-]{30,}", "docker swarm key"),
    ("SWMTKN-", r"[0-9]-[A-Za-z0-9\-]{30,}", "docker swarm key"),
    ("AKCp", rf"{_B62}{{50,}}", "jfrog key"),
    ("cmVmdGtu", rf"{_B62}{{50,}}", "jfrog token"),
    # Clouds and hosts
    *((name, r"[A-Z0-9]{16}", "aws key") for name in ("AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA", "AGPA", "ANPA")),
    ("A3T", r"[A-Z0-9]{17}", "aws key"),
    ("amzn.mws.", rf"{_URL}{{30,}}", "amazon mws token"),
    ("AIza", rf"{_URL}{{30,}}", "google key"),
    ("GOCSPX-", rf"{_URL}{{20,}}", "google secret"),
    ("ya29.", rf"{_URL}{{16,}}", "google token"),
    ("1//0", rf"{_URL}{{30,}}", "google token"),
    ("LTAI", rf"{_B62}{{12,}}", "alibaba key"),
    ("AKID", rf"{_B62}{{28,}}", "tencent key"),
    *((f"{name}_v1_", rf"{_HEX}{{40,}}", "digitalocean token") for name in ("dop", "doo", "dor")),
    ("dapi", rf"{_HEX}{{32}}(?:-[0-9])?", "databricks token"),
    ("dose", rf"{_HEX}{{32}}", "databricks token"),
    ("doc-", rf"{_HEX}{{40,}}", "digitalocean token"),
    ("HRKU-", rf"{_URL}{{30,}}", "heroku key"),
    ("fo1_", rf"{_URL}{{40,}}", "fly token"),
    ("fm1a_", r"[A-Za-z0-9+/=_\-]{60,}", "fly token"),
    ("fm2_", r"[A-Za-z0-9+/=_\-]{60,}", "fly token"),
    ("FlyV1 ", r"[A-Za-z0-9+/=_,\-]{40,}", "fly token"),
    ("rnd_", rf"{_B62}{{28,}}", "render key"),
    ("nfp_", rf"{_B62}{{36,}}", "netlify token"),
    ("nfc_", rf"{_B62}{{36,}}", "netlify token"),
    ("vcp_", rf"{_B62}{{24,}}", "vercel token"),
    ("sbp_", r"(?:v0_)?[a-z0-9]{40}", "supabase token"),
    ("sb_secret_", rf"{_URL}{{20,}}", "supabase key"),
    ("tskey-", rf"{_URL}{{20,}}", "tailscale key"),
    ("cfut_", rf"{_URL}{{30,}}", "cloudflare token"),
    ("cfat_", rf"{_URL}{{30,}}", "cloudflare token"),
    ("cfk_", rf"{_URL}{{30,}}", "cloudflare key"),
    ("v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,}}", "cloudflare key"),
    ("dnkey-", rf"{_URL}{{30,}}", "defined networking key"),
    ("pul-", rf"{_HEX}{{40}}", "pulumi token"),
    ("dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{60,}", "dynatrace token"),
    ("dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{60,}", "dynatrace token"),
    ("AGE-SECRET-KEY-", r"1[A-Za-z0-9]{40,}", "private key"),
    ("hvs.", r"[A-Za-z0-9_\-]{24,}(?:\.[A-Za-z0-9_\-]{10,})?", "vault token"),
    ("hvb.", rf"{_URL}{{24,}}", "vault token"),
    ("hvr.", rf"{_URL}{{24,}}", "vault token"),
    ("ops_eyJ", r"[A-Za-z0-9+/=_\-]{40,}", "1password token"),
    ("A3-", r"[A-Z0-9]{6}-[A-Z0-9]{5,11}-(?:[A-Z0-9]{5}-){2,3}[A-Z0-9]{5}", "1password key"),
    *(
        (f"dp.{name}.", r"(?:[a-z0-9_\-]{2,40}\.)?[A-Za-z0-9]{30,}", "doppler token")
        for name in ("pt", "st", "ct", "sa", "scim", "audit", "said")
    ),
    ("glsa_", rf"{_B62}{{30,}}_{_HEX}{{8}}", "grafana token"),
    ("glc_", r"[A-Za-z0-9+/=]{30,}", "grafana token"),
    ("eyJrIjoi", r"[A-Za-z0-9+/=_\-]{30,}", "grafana key"),
    # Databases and data
    ("pscale_", r"(?:tkn|oauth|pw|otkn|app_secret)_[A-Za-z0-9_.\-=]{24,}", "planetscale credential"),
    ("mdb_sa_sk_", rf"{_URL}{{30,}}", "mongodb atlas secret"),
    ("napi_", rf"{_B62}{{30,}}", "neon key"),
    ("npg_", rf"{_B62}{{12,}}", "neon password"),
    ("pcsk_", rf"{_URL}{{40,}}", "pinecone key"),
    ("xau_", rf"{_B62}{{28,}}", "xata key"),
    ("4b1d", rf"{_B62}{{38}}", "clickhouse key"),
    ("AVNS_", rf"{_URL}{{16,}}", "aiven password"),
    # Chat and mail
    *((f"xox{letter}-", rf"{_URL}{{10,}}", "slack token") for letter in "abceoprsd"),
    ("xoxe.xox", rf"[bp]-[0-9]-{_URL}{{20,}}", "slack token"),
    ("xapp-", rf"[0-9]-{_URL}{{20,}}", "slack token"),
    ("SG.", rf"{_URL}{{16,}}\.{_URL}{{16,}}", "sendgrid key"),
    *(
        (f"{name}{digit}", rf"{_HEX}{{31}}(?![0-9a-zA-Z])", "twilio key")
        for name in ("SK", "AC")
        for digit in "0123456789abcdefABCDEF"
    ),
    ("key-", rf"{_HEX}{{32}}", "mailgun key"),
    ("pubkey-", rf"{_HEX}{{32}}", "mailgun key"),
    ("xkeysib-", rf"{_HEX}{{50,}}-{_B62}{{16}}", "brevo key"),
    ("xsmtpsib-", rf"{_HEX}{{50,}}-{_B62}{{16}}", "brevo key"),
    ("re_", rf"{_B62}{{6,10}}_{_B62}{{20,}}", "resend key"),
    ("mlsn.", rf"{_HEX}{{50,}}", "mailersend token"),
    # Money and shops
    *(
        (f"{name}_{mode}_", r"[A-Za-z0-9_]{10,}", "stripe key")
        for name in ("sk", "rk", "pk")
        for mode in ("live", "test", "prod")
    ),
    ("sk_", r"(?:[A-Za-z0-9]{2,10}_){0,3}[A-Za-z0-9]{24,}", "api key"),
    ("whsec_", r"[A-Za-z0-9+/=]{24,}", "webhook secret"),
    ("sq0", rf"[a-z]{{3}}-{_URL}{{20,}}", "square token"),
    ("EAAA", rf"{_URL}{{40,}}", "square token"),
    ("EAAC", rf"{_B62}{{20,}}", "facebook token"),
    ("EAA", rf"{_B62}{{80,}}", "facebook token"),
    *(
        (f"{name}_", rf"{_HEX}{{32}}", "shopify token")
        for name in ("shpat", "shpca", "shppa", "shpss", "shptka", "shpua")
    ),
    ("shippo_", rf"(?:live|test)_{_HEX}{{40}}", "shippo token"),
    ("EZAK", rf"{_B62}{{54,}}", "easypost key"),
    ("EZTK", rf"{_B62}{{54,}}", "easypost key"),
    ("FLWSECK", r"[A-Z_]*-[A-Za-z0-9\-]{12,}", "flutterwave key"),
    ("rzp_", rf"(?:live|test)_{_B62}{{14,}}", "razorpay key"),
    ("duffel_", rf"(?:live|test)_{_URL}{{30,}}", "duffel token"),
    ("live_", rf"(?:pub_)?(?:{_HEX}{{31,}}|[0-9]{{6,}}_{_B62}{{20,}})", "live key"),
    ("test_", rf"(?:pub_)?{_HEX}{{31,}}", "test key"),
    ("access-", rf"(?:sandbox|development|production)-{_HEX}{{8}}-[0-9a-fA-F\-]{{27}}", "plaid token"),
    # Work
    ("CFPAT-", rf"{_URL}{{30,}}", "contentful token"),
    ("sub-c-", rf"{_HEX}{{8}}-{_URL}{{20,}}", "pubnub key"),
    ("pub-c-", rf"{_HEX}{{8}}-{_URL}{{20,}}", "pubnub key"),
    ("sec-c-", rf"{_URL}{{30,}}", "pubnub key"),
    ("slk_", rf"{_HEX}{{60,}}", "sourcegraph key"),
    ("VF.", r"(?:DM|WS)\.[0-9a-f]{24}\.[A-Za-z0-9]{16}", "voiceflow key"),
    ("lin_api_", rf"{_B62}{{30,}}", "linear key"),
    ("lin_oauth_", rf"{_B62}{{30,}}", "linear token"),
    ("ntn_", rf"{_B62}{{40,}}", "notion token"),
    ("secret_", rf"{_B62}{{43}}", "notion token"),
    ("figd_", rf"{_URL}{{36,}}", "figma token"),
    ("figu", rf"[hor]?_{_URL}{{36,}}", "figma token"),
    ("tfp_", r"[A-Za-z0-9_.\-]{36,}", "typeform token"),
    ("pat", rf"{_B62}{{14}}\.{_HEX}{{50,}}", "airtable token"),
    ("pat-", rf"(?:na|eu)[0-9]-{_HEX}{{8}}-[0-9a-fA-F\-]{{27}}", "hubspot token"),
    ("PMAK-", rf"{_HEX}{{20,}}-{_HEX}{{30,}}", "postman key"),
    ("PMAT-", rf"{_B62}{{26,}}", "postman token"),
    ("rdme_", r"[a-z0-9]{60,}", "readme key"),
    ("pd-", r"us[0-9A-Za-z+_\-]{18,}", "pagerduty key"),
    ("fio-u-", r"[A-Za-z0-9_=\-]{60,}", "frame.io token"),
    ("cosmo_", rf"{_HEX}{{32}}", "wundergraph key"),
    ("tkn.v1_", r"[A-Za-z0-9+/=_\-]{60,}", "teamwork token"),
    ("ico-", rf"{_B62}{{30,}}", "intra42 token"),
    ("sl.", rf"{_URL}{{60,}}", "dropbox token"),
    ("dnd_", rf"{_B62}{{30,}}", "api key"),
    # Watching
    *(
        (f"{name}-", rf"{_URL}{{18,}}", "new relic key")
        for name in ("NRAK", "NRAA", "NRAL", "NRII", "NRIQ", "NRJS", "NRBR", "NRSP", "NRRA")
    ),
    ("px-api-", rf"{_URL}{{30,}}", "new relic key"),
    ("px-dep-", rf"{_URL}{{30,}}", "new relic key"),
    *((f"ph{letter}_", rf"{_URL}{{30,}}", "posthog key") for letter in "xcsra"),
    ("sntrys_", r"[A-Za-z0-9+/=_\-]{40,}", "sentry token"),
    ("sntryu_", rf"{_HEX}{{60,}}", "sentry token"),
    ("aio_", rf"{_B62}{{24,}}", "adafruit key"),
    ("p8e-", rf"{_URL}{{30,}}", "adobe secret"),
    ("bkua_", rf"{_HEX}{{40}}", "buildkite token"),
    ("prefect-", rf"{_URL}{{30,}}", "prefect key"),
    ("pnu_", rf"{_B62}{{30,}}", "prefect key"),
    ("sdk-", rf"{_HEX}{{8}}-[0-9a-fA-F\-]{{27}}", "launchdarkly key"),
    ("api-", rf"{_HEX}{{8}}-[0-9a-fA-F\-]{{27}}", "launchdarkly key"),
    ("API-", r"[A-Z0-9]{25,}", "octopus key"),
    ("3MVG", r"[A-Za-z0-9_.]{50,}", "salesforce key"),
    ("00D", r"[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}", "salesforce token"),
    ("kdk_", rf"{_B62}{{30,}}", "api key"),
    ("wxp_", rf"{_B62}{{30,}}", "api key"),
    ("AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{40,}", "x token"),
    ("TlRMTVNTUAAD", r"[A-Za-z0-9+/=]{40,}", "ntlm message"),
    ("b3BlbnNzaC1rZXktdj", r"[A-Za-z0-9+/=]{16,}", "private key"),
    ("LS0tLS1CRUdJTi", r"[A-Za-z0-9+/=]{16,}", "private key"),
)

# Ids that runtimes, providers and tools print all day and that open nothing.
_HARMLESS = """
    toolu srvtoolu call chatcmpl msg req resp rs fc run thread asst sess session evt event file fp build index chunk
    commit sha sha1 sha256 sha384 sha512 md5 uuid id item cmpl gen task job batch step trace span ws rsm web toolcall
    functions conv conversation agent user org proj project env cus sub in price prod ch pi seti pm acct py txn cs image
    img layer digest ref rev version v node pkg hash etag vrtx bdrk
"""
HARMLESS_PREFIXES = frozenset(_HARMLESS.split())
