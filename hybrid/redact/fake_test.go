package redact

import (
	"math/rand/v2"
	"strings"
)

// fake makes up secrets. None stands in a source, and each is put together of
// parts.
type fake struct{ *rand.Rand }

const (
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexes   = "0123456789abcdef"
	decimal = "0123456789"
)

func (r fake) of(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

func (r fake) hex(n int) string { return r.of(hexes, n) }

// alnum begins with all that a rule could ask for.
func (r fake) alnum(n int) string { return "aB3" + r.of(small+capital+decimal, n-3) }

func (r fake) upper(n int) string { return r.of(capital+"234567", n) }

// plant returns a secret of each shape, made up here so that none stands in
// the source.
func plant() map[string]string { return planted(fake{rand.New(rand.NewPCG(1, 2))}) }

func planted(r fake) map[string]string {
	of, alnum, upper := r.of, r.alnum, r.upper
	return map[string]string{
		"aws-key":            "AKIA" + upper(16),
		"github-token":       "ghp_" + alnum(36),
		"github-pat":         "github_pat_" + alnum(40),
		"gitlab-token":       "glpat-" + alnum(20),
		"slack-token":        "xoxb-" + of(decimal, 12) + "-" + alnum(20),
		"anthropic-key":      "sk-ant-" + "api03-" + alnum(60),
		"openai-key":         "sk-" + "proj-" + alnum(48),
		"google-key":         "AIza" + alnum(35),
		"google-token":       "ya29." + alnum(40),
		"google-secret":      "GOCSPX-" + alnum(28),
		"stripe-key":         "sk_" + "live_" + alnum(24),
		"npm-token":          "npm_" + alnum(36),
		"pypi-token":         "pypi-" + alnum(60),
		"huggingface-token":  "hf_" + alnum(34),
		"sendgrid-key":       "SG." + alnum(22) + "." + alnum(43),
		"twilio-key":         "SK" + r.hex(32),
		"digitalocean-token": "dop_v1_" + r.hex(64),
		"shopify-token":      "shpat_" + r.hex(32),
		"vault-token":        "hvs." + alnum(30),
		"databricks-token":   "dapi" + r.hex(32),
		"linear-key":         "lin_api_" + alnum(40),
		"age-key":            "AGE-SECRET-KEY-1" + upper(58),
		"telegram-token":     of("123456789", 9) + ":AA" + alnum(33),
		"jwt":                "eyJ" + alnum(20) + ".eyJ" + alnum(40) + "." + alnum(43),
		"private-key":        "-----BEGIN RSA " + "PRIVATE KEY-----\n" + alnum(64) + "\n" + alnum(64) + "\n-----END RSA " + "PRIVATE KEY-----",
		"azure-key":          "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + alnum(86) + "==;EndpointSuffix=core",
		"azure-sas":          "https://x.blob.example/c?sv=2024&sig=" + alnum(43) + "%3D",
		"connection-string":  "Server=db;User Id=sa;Password=" + alnum(12) + ";Encrypt=true",
		"url-password":       "postgres://ada:" + alnum(16) + "@db:5432/x",
		"bearer":             "Authorization: Bearer " + r.hex(40),
		"aws-secret":         "aws_secret_access_key = " + alnum(40),
		"basic-auth":         "Authorization: Basic " + alnum(24) + "==",
		"slack-webhook":      "https://hooks.slack.com/services/T" + alnum(8) + "/B" + alnum(8) + "/" + alnum(24),

		"cookie":            "Cookie: theme=dark; sid=" + alnum(26) + "; lang=en",
		"password":          "mysql -u root -p" + alnum(12) + " shop",
		"discord-webhook":   "https://discord.com/api/webhooks/" + of(decimal, 18) + "/" + alnum(60),
		"openrouter-key":    "sk-or" + "-v1-" + r.hex(64),
		"groq-key":          "gsk" + "_" + alnum(52),
		"xai-key":           "xai" + "-" + alnum(80),
		"perplexity-key":    "pplx" + "-" + alnum(48),
		"replicate-token":   "r8" + "_" + alnum(37),
		"tavily-key":        "tvly" + "-dev-" + alnum(32),
		"notion-token":      "ntn" + "_" + alnum(46),
		"figma-token":       "figd" + "_" + alnum(40),
		"supabase-token":    "sbp" + "_" + r.hex(40),
		"atlassian-token":   "ATATT" + "3xFfGF0" + alnum(100),
		"grafana-token":     "glsa" + "_" + alnum(32) + "_" + r.hex(8),
		"webhook-secret":    "whsec" + "_" + alnum(32),
		"doppler-token":     "dp.pt" + "." + alnum(43),
		"docker-token":      "dckr_pat" + "_" + alnum(27),
		"planetscale-token": "pscale_tkn" + "_" + alnum(43),
		"netlify-token":     "nfp" + "_" + alnum(36),
		"sentry-token":      "sntryu" + "_" + r.hex(64),
		"newrelic-key":      "NRAK" + "-" + of(capital+decimal, 27),
		"mailgun-key":       "key" + "-" + r.hex(32),
		"postman-key":       "PMAK" + "-" + r.hex(24) + "-" + r.hex(34),
		"pulumi-token":      "pul" + "-" + r.hex(40),
		"entra-secret":      "aB3" + "8Q~" + alnum(34),
		"rubygems-key":      "rubygems" + "_" + r.hex(48),
		"langsmith-key":     "lsv2_pt" + "_" + r.hex(32) + "_" + r.hex(10),
		"elevenlabs-key":    "sk" + "_" + r.hex(48),
		"square-token":      "sq0atp" + "-" + alnum(22),
		"brevo-key":         "xkeysib" + "-" + r.hex(64) + "-" + alnum(16),
		"airtable-token":    "pat" + alnum(14) + "." + r.hex(64),
		"url-token":         "git clone https://" + alnum(40) + "@git.test/x",
		"terraform-token":   alnum(14) + ".atlas" + "v1." + alnum(67),
		"pinecone-key":      "pcsk" + "_" + alnum(6) + "_" + alnum(63),
		"heroku-key":        "HRKU" + "-" + alnum(40),
	}
}
