package hybrid

import "regexp"

// Secrets returns the built-in rules: token shapes, private keys, connection
// strings, bearer headers. What they find becomes [redacted:<rule>]. They find
// it also where JSON escapes stand in between, once or twice over. Values of
// signatures, which must stay byte for byte, are not touched.
//
// They are shapes: a password that looks like a word is not found, and nothing
// is promised of shapes that are not among the rules.
func Secrets() Redactor {
	s := &secrets{signature: regexp.MustCompile(
		`"(?:thought_?[sS]ignature|signature|encrypted_content|encrypted_reasoning)"\s*:\s*"(?:[^"\\]|\\.)*"`)}
	for _, r := range secretRules() {
		s.rules = append(s.rules, rule{name: r.name, hints: r.hints, shape: regexp.MustCompile(r.shape), needs: r.needs})
	}
	return s
}

// secrets is the built-in redactor.
type secrets struct {
	rules     []rule
	signature *regexp.Regexp
}

// rule is the shape of one kind of secret. A line without one of the hints is
// not looked at. What the first group matches is the secret, or all of it.
type rule struct {
	name  string
	hints []string
	shape *regexp.Regexp
	needs need // what tells it from words
}

// need is what a secret of some shape holds besides.
type need uint8

const (
	nothing need = iota
	aDigit
	bothCases // and a digit
)

// secretsVersion changes with the rules: what other rules made is not mixed
// with theirs.
const secretsVersion = "secrets/2"

// Version implements [Redactor].
func (*secrets) Version() string { return secretsVersion }

type secretRule struct {
	name  string
	hints []string
	shape string
	needs need
}

func secretRules() []secretRule {
	one := func(name, hint, shape string) secretRule {
		return secretRule{name: name, hints: []string{hint}, shape: shape}
	}
	return append([]secretRule{
		one("private-key", "PRIVATE KEY", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`+
			`(?:[A-Za-z0-9+/=\s\\:,.()-]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]+)`),
		one("jwt", "eyJ", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`),
		{
			name: "aws-key", hints: []string{"AKIA", "ASIA", "ABIA", "ACCA"},
			shape: `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`,
		},
		{
			name: "aws-secret", hints: []string{"secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"},
			shape: `(?i)secret_?access_?key["'\s:=]{1,8}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|\z)`,
		},
		{
			name: "azure-key", hints: []string{"AccountKey=", "AccessKey=", "SharedAccessSignature="},
			shape: `(?:AccountKey|SharedAccessKey|AccessKey|SharedAccessSignature)=([A-Za-z0-9+/%=&.-]{20,})`,
		},
		one("azure-sas", "sig=", `[?&]sig=([A-Za-z0-9%+/]{30,}={0,2})`),
		{
			name: "connection-string", hints: []string{"assword=", "PASSWORD=", "wd=", "PWD=", "assword ="},
			shape: `(?i);\s*(?:password|pwd)\s*=\s*((?:[^;"'\s\\\[\]$%<{(*]|\$[^a-z_{(;"'\s\\\[\]])[^;"'\s\\\[\]]{3,})`, // no variable
		},
		one("url-password", "://", `\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@"'\\\[\]]{1,64}:([^\s/@"'\\\[\]]{4,128})@[A-Za-z0-9]`),
		{
			name: "bearer", hints: []string{"earer ", "BEARER "}, needs: aDigit,
			shape: `(?i)\bbearer[ \t]+([A-Za-z0-9._~+/=-]{16,})`,
		},
		{
			name: "basic-auth", hints: []string{"asic "},
			shape: `(?i)authorization["']?\s*[:=]\s*["']?basic[ \t]+([A-Za-z0-9+/]{8,}={0,2})`,
		},
	}, tokenRules()...)
}

// tokenRules are the shapes that services give their tokens so that they are
// found.
func tokenRules() []secretRule {
	one := func(name, hint, shape string) secretRule {
		return secretRule{name: name, hints: []string{hint}, shape: shape}
	}
	return []secretRule{
		one("github-token", "gh", `\bgh[pousr]_[A-Za-z0-9]{36,255}\b`),
		one("github-pat", "github_pat_", `\bgithub_pat_[A-Za-z0-9_]{22,255}\b`),
		one("gitlab-token", "glpat-", `\bglpat-[A-Za-z0-9_-]{20,}`),
		one("slack-token", "xox", `\bxox[abeposr]-[A-Za-z0-9-]{10,}`),
		one("slack-webhook", "hooks.slack.com", `https://hooks\.slack\.com/services/([A-Za-z0-9/]{20,})`),
		one("anthropic-key", "sk-ant-", `\bsk-ant-[A-Za-z0-9_-]{20,}`),
		{name: "openai-key", hints: []string{"sk-"}, shape: `\bsk-[A-Za-z0-9_-]{20,}`, needs: bothCases},
		one("google-key", "AIza", `\bAIza[A-Za-z0-9_-]{35}`),
		one("google-token", "ya29.", `\bya29\.[A-Za-z0-9_-]{20,}`),
		one("google-secret", "GOCSPX-", `\bGOCSPX-[A-Za-z0-9_-]{20,}`),
		{name: "stripe-key", hints: []string{"k_live_", "k_test_"}, shape: `\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`},
		one("npm-token", "npm_", `\bnpm_[A-Za-z0-9]{36}\b`),
		one("pypi-token", "pypi-", `\bpypi-[A-Za-z0-9_-]{50,}`),
		{name: "huggingface-token", hints: []string{"hf_"}, shape: `\bhf_[A-Za-z0-9]{30,}\b`, needs: bothCases},
		one("sendgrid-key", "SG.", `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
		one("twilio-key", "SK", `\bSK[0-9a-f]{32}\b`),
		one("digitalocean-token", "_v1_", `\bdo[opr]_v1_[0-9a-f]{64}\b`),
		one("shopify-token", "shp", `\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b`),
		one("vault-token", "hvs.", `\bhvs\.[A-Za-z0-9_-]{24,}`),
		one("databricks-token", "dapi", `\bdapi[0-9a-f]{32}\b`),
		one("linear-key", "lin_api_", `\blin_api_[A-Za-z0-9]{32,}`),
		one("age-key", "AGE-SECRET-KEY-", `\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b`),
		one("telegram-token", ":AA", `\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`),
	}
}
