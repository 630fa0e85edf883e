"""Takes secrets out of text before it is kept: known kinds by their shape, known values by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

MARK = "[redacted]"
# A shorter value is a word that may stand anywhere.
_SHORTEST = 8
_CROSSING = ".*?"

# A cheap word that must occur (in lower case), and the shape; what is in the group `keep` stays.
_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    (("github_pat_",), r"\bgithub_pat_\w{20,}"),
    (("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"), r"\bgl(?:pat|dt|rt|ptt|cbt)-[\w-]{18,}"),
    (("xox", "xapp-"), r"\b(?:xox[abeoprs]|xapp)-[\w-]{10,}"),
    (("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/[\w/]+"),
    (("sk-",), r"\bsk-[A-Za-z0-9][\w-]{18,}"),
    (("xai-", "gsk_", "pplx-", "csk-"), r"\b(?:xai-|gsk_|pplx-|csk-)[A-Za-z0-9]{20,}"),
    (("sk_", "rk_", "whsec_"), r"\b(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{10,}"),
    (("aiza",), r"\bAIza[\w-]{35}"),
    (("ya29.",), r"\bya29\.[\w-]{20,}"),
    (("gocspx-",), r"\bGOCSPX-[\w-]{20,}"),
    (("npm_",), r"\bnpm_[A-Za-z0-9]{30,}"),
    (("pypi-",), r"\bpypi-[\w-]{20,}"),
    (("sg.",), r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    (("key-",), r"\bkey-[0-9a-f]{32}\b"),
    (("-us",), r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    (("dop_v1_", "doo_v1_", "dor_v1_"), r"\bdo[opr]_v1_[0-9a-f]{40,}"),
    (("hrku-",), r"\bHRKU-[\w-]{30,}"),
    (("dapi",), r"\bdapi[0-9a-f]{32}\b"),
    (("hvs.", "hvb.", "hvr."), r"\bhv[sbr]\.[\w-]{20,}"),
    (("atlasv1.",), r"\b\w{14}\.atlasv1\.[\w-]{40,}"),
    (("accountkey=", "sharedaccesskey="), r"(?P<keep>(?:Account|SharedAccess)Key=)[A-Za-z0-9+/=]{20,}"),
    (("sig=",), r"(?P<keep>[?&]sig=)[A-Za-z0-9%+/=]{20,}"),
    (("eyj",), r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    (("-----begin",), r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*-----|\Z)"),
    (("putty-user-key-file",), r"PuTTY-User-Key-File.*?(?:Private-MAC: \S+|\Z)"),
    (("age-secret-key-",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    (("://",), r"(?P<keep>://[^\s:/@\"']*:)[^\s/@\"']+(?=@)"),
    (("authorization", "x-api-key", "private-token", "x-auth-token", "cookie"),
     r"(?P<keep>\b(?:(?:Proxy-)?Authorization|X-Api-Key|Private-Token|X-Auth-Token|(?:Set-)?Cookie)"
     r"[\"']?\s*[:=]\s*[\"']?(?:(?:Bearer|Basic|Token|SSWS|ApiKey|Digest)\s+)?)[^\s\"',;]{6,}"),
    (("bearer ",), r"(?P<keep>\bBearer\s+)[\w.~+/-]{16,}=*"),
    (("shpat_", "shpca_", "shppa_", "shpss_"), r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{30,}"),
    (("sq0", "eaaa"), r"\b(?:sq0[a-z]{3}-[\w-]{20,}|EAAA[\w-]{50,})"),
    (("lin_api_", "lin_oauth_"), r"\blin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    (("secret_", "ntn_"), r"\b(?:secret_|ntn_)[A-Za-z0-9]{40,}"),
    (("figd_",), r"\bfigd_[\w-]{30,}"),
    (("pmak-",), r"\bPMAK-[0-9a-f]{20,}-[0-9a-f]{30,}"),
    (("dp.",), r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.]{30,}"),
    (("glc_", "glsa_"), r"\b(?:glc_|glsa_)[\w=+/]{30,}"),
    (("nrak-", "nrii-", "nraa-"), r"\bNR(?:AK|II|AA)-[\w-]{20,}"),
    (("sntrys_", "sntryu_"), r"\bsntry[su]_[\w=+/-]{30,}"),
    (("hf_",), r"\bhf_[A-Za-z0-9]{30,}"),
    (("r8_",), r"\br8_[A-Za-z0-9]{30,}"),
    (("dckr_pat_", "dckr_oat_"), r"\bdckr_[po]at_[\w-]{20,}"),
    (("rubygems_",), r"\brubygems_[0-9a-f]{40,}"),
    (("fm1_", "fm2_", "flyv1"), r"\b(?:FlyV1 )?fm[12]_[\w+/=,-]{30,}"),
    (("sbp_", "sb_secret_"), r"\b(?:sbp_[0-9a-f]{30,}|sb_secret_[\w-]{20,})"),
    (("pscale_",), r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{30,}"),
    (("atatt3", "atctt3"), r"\bAT[AC]TT3[\w=-]{40,}"),
    (("sl.",), r"\bsl\.[\w-]{60,}"),
    (("discord", "mfa.", "bot "), r"\b(?:mfa\.[\w-]{60,}|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,})"),
    ((":aa",), r"\b\d{8,10}:AA[\w-]{32,}"),
    (("client-key-data", "client-certificate-data"), r"(?P<keep>client-key-data:\s*)[A-Za-z0-9+/=]{20,}"),
    (("machine ", "login "), r"(?P<keep>\bpassword\s+)\S+"),
    (("pass", "pwd", "token", "secret", "key", "credential"),
     r"(?P<keep>(?:PASSWORD|PASSWD|PASSPHRASE|PWD|TOKEN|SECRET|API_?KEY|APIKEY|ACCESS_?KEY"
     r"|PRIVATE_?KEY|AUTH_?KEY|ENCRYPTION_?KEY|SIGNING_?KEY|CREDENTIALS?)[\w.-]*\\*[\"']?\s*(?:=|:\s)\s*\\*[\"']?)"
     r"(?![$<{(*]|true\b|false\b|null\b|none\b|\d{1,4}\b)[^\s\"',;&\\]{4,}"),
    (("--",), r"(?P<keep>--[\w-]*(?:password|passwd|token|secret|api-?key)[= ][\"']?)(?![$<{-])[^\s\"']+"),
    (("mysql", "mariadb", "mongo", "redis-cli"),
     r"(?P<keep>\b(?:mysql\w*|mariadb|mongo|redis-cli)\b[^\n|;&]*?\s-(?:p|a ))(?![$\s])[^\s\"']{4,}"),
    (("curl", "wget", "http"),
     r"(?P<keep>\b(?:curl|wget|http)\b[^\n|;&]*?\s(?:-u|--user)[= ]?[\"']?[^\s:\"']+:)[^\s\"']+"),
    (("sshpass",), r"(?P<keep>\bsshpass\s+-p\s*[\"']?)[^\s\"']+"),
)  # fmt: skip


def redact(text: str, known: Iterable[str] = ()) -> str:
    """The text with a mark in the place of each secret; `known` are values that are secret as such."""
    for value in sorted(set(known), key=len, reverse=True):
        if len(value) >= _SHORTEST and value in text:
            text = text.replace(value, MARK)
    lower = text.lower()
    present = [kind for kind in _KINDS if any(hint in lower for hint in kind[0])]
    # Few shapes cross lines; the others only look at lines that have their word.
    for _, shape in present:
        if _CROSSING in shape:
            text = _compiled(shape).sub(_masked, text)
    single = [kind for kind in present if _CROSSING not in kind[1]]
    return "\n".join(_redact_line(line, single) for line in text.split("\n")) if single else text


def _redact_line(line: str, kinds: list[tuple[tuple[str, ...], str]]) -> str:
    lower = line.lower()
    for hints, shape in kinds:
        for hint in hints:
            if hint in lower:
                line = _compiled(shape).sub(_masked, line)
                break
    return line


def holds_secret(text: str) -> bool:
    """Whether a text contains something that looks like a secret."""
    return redact(text) != text


def _masked(match: re.Match[str]) -> str:
    kept = match.groupdict().get("keep") or ""
    return f"{kept}{MARK}"


@lru_cache(maxsize=128)
def _compiled(shape: str) -> re.Pattern[str]:
    flags = re.DOTALL | re.MULTILINE
    # Shapes with a name in front are written in any case; tokens only in their own.
    return re.compile(shape, flags | re.IGNORECASE if "(?P<keep>" in shape else flags)
