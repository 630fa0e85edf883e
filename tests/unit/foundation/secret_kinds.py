"""Made-up secrets of many kinds, in the places where they turn up. `§` stands around what must disappear."""

from __future__ import annotations

_WORD = "aB3dE6gH9jK2mN5pQ8sT"
_HEX = "0123456789abcdef"


def words(length: int) -> str:
    return (_WORD * 20)[:length]


def digits(length: int) -> str:
    return (_HEX * 20)[:length]


KINDS = {
    "AWS key id": f"aws configure §AKIA{'A1B2C3D4' * 2}§",
    "AWS secret": f"AWS_SECRET_ACCESS_KEY=§{words(40)}§ aws s3 ls",
    "AWS session": f"export AWS_SESSION_TOKEN=§{words(80)}§",
    "GitHub personal": f"git clone https://x-access-token:§ghp_{words(36)}§@github.com/a/b",
    "GitHub oauth": f"token §gho_{words(36)}§",
    "GitHub app": f"§ghs_{words(36)}§",
    "GitHub refresh": f"§ghr_{words(36)}§",
    "GitHub fine-grained": f"gh auth §github_pat_{words(60)}§",
    "GitLab": f"PRIVATE-TOKEN: §glpat-{words(20)}§",
    "Slack bot": f"§xoxb-123456789012-{words(24)}§",
    "Slack app": f"§xapp-1-A0123-{words(30)}§",
    "Slack hook": f"curl https://§hooks.slack.com/services/T000/B000/{words(24)}§",
    "OpenAI": f"OPENAI_API_KEY='§sk-proj-{words(40)}§'",
    "Anthropic": f"x-api-key: §sk-ant-api03-{words(60)}§",
    "xAI": f"§xai-{words(60)}§",
    "Groq": f"§gsk_{words(50)}§",
    "Stripe": f"stripe §sk_live_{words(24)}§",
    "Stripe restricted": f"§rk_live_{words(24)}§",
    "Stripe hook": f"§whsec_{words(32)}§",
    "Google API": f"key=§AIza{words(35)}§",
    "Google token": f"§ya29.{words(60)}§",
    "Google client": f"§GOCSPX-{words(28)}§",
    "npm": f"//registry/:_authToken=§npm_{words(36)}§",
    "PyPI": f"twine §pypi-AgEI{words(60)}§",
    "SendGrid": f"§SG.{words(22)}.{words(43)}§",
    "Mailgun": f"§key-{digits(32)}§",
    "Mailchimp": f"§{digits(32)}-us12§",
    "DigitalOcean": f"§dop_v1_{digits(64)}§",
    "Heroku": f"§HRKU-{words(36)}§",
    "Databricks": f"§dapi{digits(32)}§",
    "Vault": f"§hvs.{words(24)}§",
    "Terraform": f"§{words(14)}.atlasv1.{words(60)}§",
    "Azure storage": f"AccountName=x;AccountKey=§{words(80)}==§;EndpointSuffix=y",
    "Azure signature": f"https://x.blob/y?sv=1&sig=§{words(40)}%3D§",
    "web token": f"§eyJ{words(20)}.eyJ{words(40)}.{words(40)}§",
    "private key": f"§-----BEGIN RSA PRIVATE KEY-----\n{words(64)}\n-----END RSA PRIVATE KEY-----§",
    "cut private key": f"§-----BEGIN OPENSSH PRIVATE KEY-----\n{words(64)}\n{words(60)}§",
    "PuTTY key": f"§PuTTY-User-Key-File-3: ssh-rsa\n{words(64)}\nPrivate-MAC: {digits(40)}§",
    "age key": f"§AGE-SECRET-KEY-1{'QPZRY9X8' * 8}§",
    "database URL": "psql postgres://app:§hunter2horse§@db:5432/x",
    "proxy URL": "HTTPS_PROXY=http://me:§pa55word§@proxy:3128",
    "authorization header": f"curl -H 'Authorization: Bearer §{words(30)}§' x",
    "basic header": f"Authorization: Basic §{words(24)}==§",
    "cookie": f"Cookie: §session={words(30)}§",
    "password option": "tool --password §hunter2horse§ --verbose",
    "token option": "tool --auth-token=§hunter2horse§",
    "password variable": "PGPASSWORD=§hunter2horse§ psql",
    "password in YAML": "db:\n  password: §hunter2horse§\n",
    "secret in JSON": '{"client_secret": "§hunter2horse§"}',
    "mysql option": "mysql -u root -p§hunter2horse§ db",
    "curl user": "curl -u admin:§hunter2horse§ http://x",
    "sshpass": "sshpass -p §hunter2horse§ ssh x",
    "netrc": "machine api.x login me password §hunter2horse§",
    "kubernetes key": f"client-key-data: §{words(60)}§",
    "Discord": f"bot §M{words(24)}.{words(6)}.{words(28)}§",
    "Telegram": f"§123456789:AA{words(33)}§",
    "Shopify": f"§shpat_{digits(32)}§",
    "Square": f"§sq0atp-{words(22)}§",
    "Linear": f"§lin_api_{words(40)}§",
    "Notion": f"§ntn_{words(46)}§",
    "Figma": f"§figd_{words(40)}§",
    "Postman": f"§PMAK-{digits(24)}-{digits(34)}§",
    "Doppler": f"§dp.pt.{words(43)}§",
    "Grafana": f"§glsa_{words(32)}_{digits(8)}§",
    "New Relic": f"§NRAK-{words(27)}§",
    "Sentry": f"§sntrys_{words(60)}§",
    "Hugging Face": f"§hf_{words(34)}§",
    "Replicate": f"§r8_{words(37)}§",
    "Docker": f"§dckr_pat_{words(27)}§",
    "RubyGems": f"§rubygems_{digits(48)}§",
    "Fly": f"§fm2_{words(60)}§",
    "Supabase": f"§sbp_{digits(40)}§",
    "PlanetScale": f"§pscale_tkn_{words(43)}§",
    "Atlassian": f"§ATATT3xFf{words(60)}§",
    "Dropbox": f"§sl.{words(80)}§",
}


def seeded(kind: str) -> tuple[str, str]:
    """The text with its secret, and the secret alone."""
    before, secret, after = KINDS[kind].split("§")
    return before + secret + after, secret


HARMLESS = (
    "git commit -m 'add token refresh and password reset'",
    "the key is under the mat; tokens: 12, passwords: none",
    "for key in keys: print(key)",
    "sk-learn, task-runner, disk-usage",
    'PASSWORD="$DB_PASSWORD" TOKEN=$(cat token) make',
    "https://example.com/path?x=1&y=2 user@host:dir",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "--token-file x --no-password -p 8080:80",
    "max_tokens: 4096\nsecret: null\npassword: true",
    "npm run build && cargo test --workspace",
)
