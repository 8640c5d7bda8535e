package redact

// tokenRules are the shapes that services give their tokens so that scanners find them.
func tokenRules() []shapeRule {
	return []shapeRule{
		{
			name: "aws-key", starts: []string{"AKIA", "ASIA", "ABIA", "ACCA"},
			shape: `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`,
		},
		{
			name: "aws-secret", starts: []string{"secret_access", "secretaccess"},
			shape: `(?i)secret_?access_?key["'\s:=]{1,8}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|\z)`,
		},
		{name: "github-token", starts: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, shape: `\bgh[pousr]_[A-Za-z0-9]{36,255}\b`},
		one("github-pat", "github_pat_", `\bgithub_pat_[A-Za-z0-9_]{22,255}\b`),
		{name: "gitlab-token", starts: []string{"glpat-", "gldt-", "glrt-", "glptt-"}, shape: `\bgl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}`},
		one("slack-token", "xox", `\bxox[abeposr]-[A-Za-z0-9-]{10,}`),
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
		{name: "twilio-key", starts: each("SK", "0123456789abcdef"), shape: `\bSK[0-9a-f]{32}\b`},
		{name: "digitalocean-token", starts: []string{"doo_v1_", "dop_v1_", "dor_v1_"}, shape: `\bdo[opr]_v1_[0-9a-f]{64}\b`},
		{name: "shopify-token", starts: []string{"shpat", "shpca", "shppa", "shpss"}, shape: `\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b`},
		{name: "vault-token", starts: []string{"hvs.", "hvb."}, shape: `\bhv[sb]\.[A-Za-z0-9_-]{24,}`},
		one("databricks-token", "dapi", `\bdapi[0-9a-f]{32}\b`),
		one("linear-key", "lin_api_", `\blin_api_[A-Za-z0-9]{32,}`),
		one("age-key", "AGE-SECRET-KEY-", `\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b`),
		{name: "telegram-token", starts: []string{":AA"}, back: digits, shape: `\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`},
	}
}

func newerTokenRules() []shapeRule {
	return []shapeRule{
		one("openrouter-key", "sk-or-v1-", `\bsk-or-v1-[0-9a-f]{64}\b`),
		one("groq-key", "gsk_", `\bgsk_[A-Za-z0-9]{40,}`),
		{name: "xai-key", starts: []string{"xai-"}, shape: `\bxai-[A-Za-z0-9]{40,}`, needs: aDigit},
		{name: "perplexity-key", starts: []string{"pplx-"}, shape: `\bpplx-[A-Za-z0-9]{40,}`, needs: aDigit},
		{name: "replicate-token", starts: []string{"r8_"}, shape: `\br8_[A-Za-z0-9]{37,40}\b`, needs: bothCases},
		{name: "tavily-key", starts: []string{"tvly-"}, shape: `\btvly-[A-Za-z0-9-]{24,}`, needs: aDigit},
		{name: "notion-token", starts: []string{"ntn_", "secret_"}, shape: `\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b)`, needs: bothCases},
		one("figma-token", "figd_", `\bfigd_[A-Za-z0-9_-]{30,}`),
		{name: "supabase-token", starts: []string{"sbp_", "sb_secret_"}, shape: `\b(?:sbp_[0-9a-f]{40}\b|sb_secret_[A-Za-z0-9_-]{20,})`},
		one("atlassian-token", "ATATT3", `\bATATT3[A-Za-z0-9_=-]{50,}`),
		{name: "grafana-token", starts: []string{"glsa_", "glc_"}, shape: `\b(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}\b|glc_[A-Za-z0-9+/=]{40,})`},
		one("webhook-secret", "whsec_", `\bwhsec_[A-Za-z0-9+/=]{24,}`),
		one("slack-token", "xapp-", `\bxapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]{20,}`),
		{
			name: "doppler-token", starts: []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."},
			shape: `\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}`,
		},
		one("docker-token", "dckr_pat_", `\bdckr_(?:pat)_[A-Za-z0-9_-]{24,}`),
		{name: "planetscale-token", starts: []string{"pscale_"}, shape: `\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}`},
		one("netlify-token", "nfp_", `\bnfp_[A-Za-z0-9]{36,}`),
		{name: "sentry-token", starts: []string{"sntrys_", "sntryu_"}, shape: `\bsntry(?:s_[A-Za-z0-9+/=_-]{40,}|u_[0-9a-f]{64}\b)`},
		one("newrelic-key", "NRAK-", `\bNRAK-[A-Z0-9]{27}\b`),
		{name: "mailgun-key", starts: each("key-", "0123456789abcdef"), shape: `\bkey-[0-9a-f]{32}\b`},
		one("postman-key", "PMAK-", `\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b`),
		one("pulumi-token", "pul-", `\bpul-[0-9a-f]{40}\b`),
		{name: "entra-secret", starts: []string{"8Q~"}, back: three, shape: `\b[A-Za-z0-9_][A-Za-z0-9_~.]{2}8Q~[A-Za-z0-9_~.-]{31,34}`},
		one("google-token", "1//0", `\b1//0[A-Za-z0-9_-]{40,}`),
		one("rubygems-key", "rubygems_", `\brubygems_[0-9a-f]{48}\b`),
		{name: "langsmith-key", starts: []string{"lsv2_pt_", "lsv2_sk_"}, shape: `\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}\b`},
		{name: "elevenlabs-key", starts: each("sk_", "0123456789abcdef"), shape: `\bsk_[0-9a-f]{48}\b`},
		{name: "square-token", starts: []string{"sq0atp-", "sq0csp-"}, shape: `\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,}`},
		one("brevo-key", "xkeysib-", `\bxkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}`),
		{name: "airtable-token", starts: []string{"pat"}, shape: `\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b`},
		{name: "terraform-token", starts: []string{".atlasv1."}, back: fourteen, shape: `\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}`},
		one("pinecone-key", "pcsk_", `\bpcsk_[A-Za-z0-9_-]{40,}`),
		one("heroku-key", "HRKU-", `\bHRKU-[A-Za-z0-9_-]{30,}`),
	}
}

// each returns a text with each of the bytes behind it.
func each(text, behind string) (all []string) {
	for i := range len(behind) {
		all = append(all, text+behind[i:i+1])
	}
	return all
}
