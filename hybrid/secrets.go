package hybrid

// Secrets returns the built-in rules: token shapes, private keys, connection
// strings, bearer headers. What they find becomes [redacted:<rule>]. They find
// it also where JSON escapes stand in between, once or twice over. Values of
// signatures, which must stay byte for byte, are not touched.
//
// They are shapes: a password that looks like a word is not found, and nothing
// is promised of shapes that are not among the rules.
func Secrets() Redactor {
	s := &secrets{signature: compiled(secretRule{
		starts: []string{`"thought`, `"signature"`, `"encrypted_`},
		shape:  `"(?:thought_?[sS]ignature|signature|encrypted_content|encrypted_reasoning)"\s*:\s*"(?:[^"\\]|\\.)*"`,
	})}
	for _, r := range secretRules() {
		s.rules = append(s.rules, compiled(r))
	}
	return s
}

// secrets is the built-in redactor.
type secrets struct {
	rules     []rule
	signature rule
}

// secretRule is the shape of one kind of secret. What the first group matches
// is the secret, or all of it. What a shape begins with is easy to look for: a
// shape is tried nowhere else.
type secretRule struct {
	name   string
	hints  []string // a text without one of them is not looked at; none: those it begins with do
	starts []string // what the shape begins with, less the boundary of a word; letters in lower case where it has (?i)
	back   backward // how to get from what starts has to where the shape begins
	shape  string
	needs  need // what tells it from words
}

// backward is what stands before the text by which a shape is found.
type backward uint8

const (
	none   backward = iota
	scheme          // of a URL
	digits          // 8 to 10 of them
)

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

func secretRules() []secretRule {
	one := func(name, start, shape string) secretRule {
		return secretRule{name: name, starts: []string{start}, shape: shape}
	}
	return append([]secretRule{
		one("private-key", "-----BEGIN ", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`+
			`(?:[A-Za-z0-9+/=\s\\:,.()-]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]+)`),
		one("jwt", "eyJ", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`),
		{
			name: "aws-key", starts: []string{"AKIA", "ASIA", "ABIA", "ACCA"},
			shape: `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`,
		},
		{
			name: "aws-secret", hints: []string{"secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"}, starts: []string{"secret"},
			shape: `(?i)secret_?access_?key["'\s:=]{1,8}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|\z)`,
		},
		{
			name: "azure-key", starts: []string{"AccountKey=", "SharedAccessKey=", "AccessKey=", "SharedAccessSignature="},
			shape: `(?:AccountKey|SharedAccessKey|AccessKey|SharedAccessSignature)=([A-Za-z0-9+/%=&.-]{20,})`,
		},
		{name: "azure-sas", starts: []string{"?sig=", "&sig="}, shape: `[?&]sig=([A-Za-z0-9%+/]{30,}={0,2})`},
		{
			name: "connection-string", hints: []string{"assword=", "PASSWORD=", "wd=", "PWD=", "assword ="}, starts: []string{";"},
			shape: `(?i);\s*(?:password|pwd)\s*=\s*((?:[^;"'\s\\\[\]$%<{(*]|\$[^a-z_{(;"'\s\\\[\]])[^;"'\s\\\[\]]{3,})`, // no variable
		},
		{
			name: "url-password", starts: []string{"://"}, back: scheme,
			shape: `\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@"'\\\[\]]{1,64}:([^\s/@"'\\\[\]]{4,128})@[A-Za-z0-9]`,
		},
		{
			name: "bearer", hints: []string{"earer ", "BEARER "}, starts: []string{"bearer"}, needs: aDigit,
			shape: `(?i)\bbearer[ \t]+([A-Za-z0-9._~+/=-]{16,})`,
		},
		{
			name: "basic-auth", hints: []string{"asic "}, starts: []string{"authorization"},
			shape: `(?i)authorization["']?\s*[:=]\s*["']?basic[ \t]+([A-Za-z0-9+/]{8,}={0,2})`,
		},
	}, tokenRules()...)
}

// tokenRules are the shapes that services give their tokens so that they are
// found.
func tokenRules() []secretRule {
	one := func(name, start, shape string) secretRule {
		return secretRule{name: name, starts: []string{start}, shape: shape}
	}
	return []secretRule{
		{name: "github-token", starts: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, shape: `\bgh[pousr]_[A-Za-z0-9]{36,255}\b`},
		one("github-pat", "github_pat_", `\bgithub_pat_[A-Za-z0-9_]{22,255}\b`),
		one("gitlab-token", "glpat-", `\bglpat-[A-Za-z0-9_-]{20,}`),
		one("slack-token", "xox", `\bxox[abeposr]-[A-Za-z0-9-]{10,}`),
		one("slack-webhook", "https://hooks.slack.com", `https://hooks\.slack\.com/services/([A-Za-z0-9/]{20,})`),
		one("anthropic-key", "sk-ant-", `\bsk-ant-[A-Za-z0-9_-]{20,}`),
		{name: "openai-key", starts: []string{"sk-"}, shape: `\bsk-[A-Za-z0-9_-]{20,}`, needs: bothCases},
		one("google-key", "AIza", `\bAIza[A-Za-z0-9_-]{35}`),
		one("google-token", "ya29.", `\bya29\.[A-Za-z0-9_-]{20,}`),
		one("google-secret", "GOCSPX-", `\bGOCSPX-[A-Za-z0-9_-]{20,}`),
		{name: "stripe-key", starts: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}, shape: `\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`},
		one("npm-token", "npm_", `\bnpm_[A-Za-z0-9]{36}\b`),
		one("pypi-token", "pypi-", `\bpypi-[A-Za-z0-9_-]{50,}`),
		{name: "huggingface-token", starts: []string{"hf_"}, shape: `\bhf_[A-Za-z0-9]{30,}\b`, needs: bothCases},
		one("sendgrid-key", "SG.", `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
		one("twilio-key", "SK", `\bSK[0-9a-f]{32}\b`),
		{name: "digitalocean-token", starts: []string{"doo_v1_", "dop_v1_", "dor_v1_"}, shape: `\bdo[opr]_v1_[0-9a-f]{64}\b`},
		one("shopify-token", "shp", `\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b`),
		one("vault-token", "hvs.", `\bhvs\.[A-Za-z0-9_-]{24,}`),
		one("databricks-token", "dapi", `\bdapi[0-9a-f]{32}\b`),
		one("linear-key", "lin_api_", `\blin_api_[A-Za-z0-9]{32,}`),
		one("age-key", "AGE-SECRET-KEY-", `\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b`),
		{name: "telegram-token", starts: []string{":AA"}, back: digits, shape: `\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`},
	}
}
