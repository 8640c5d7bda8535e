package redact

// shapeRule is the shape of one kind of secret. The match of the first group is the
// secret, or the whole match. The beginning of a shape is easy to look for: a shape is
// tried nowhere else.
type shapeRule struct {
	name   string
	starts []string // what the shape begins with, less the boundary of a word; letters in lower case where it has (?i); 3 bytes at least
	back   backward // how to get from the text in starts to the beginning of the shape
	shape  string
	needs  need                    // distinguishes it from words
	scan   func(text []byte) match // in place of the shape, where an expression could be slow
	keep   bool                    // it must stay byte for byte
}

// backward is the distance from the text by which a shape is found to its beginning.
type backward uint8

const (
	none   backward = iota
	scheme          // of an address
	digits          // 8 to 10 of them
	semicolon
	three    // characters
	fourteen // characters
)

// need is a further property of a secret of some shape.
type need uint8

const (
	nothing need = iota
	aDigit
	bothCases // and a digit
	aPassword // no placeholder, of 4 characters at least
	aToken    // as a value of the name token
	aSecret   // as a value of the name password
	aCookie   // a part that looks random
)

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
)

// one is a rule whose shape begins with one text.
func one(name, start, shape string) shapeRule {
	return shapeRule{name: name, starts: []string{start}, shape: shape}
}

func shapeRules() (all []shapeRule) {
	all = append(all, headerRules()...)
	all = append(all, addressRules()...)
	all = append(all, clientRules()...)
	all = append(all, tokenRules()...)
	return append(all, newerTokenRules()...)
}

func headerRules() []shapeRule {
	return []shapeRule{
		{
			name: "signature", starts: []string{`"thought`, `"signature"`, `"encrypted_`}, keep: true,
			shape: `"(?:thought_?[sS]ignature|signature|encrypted_content|encrypted_reasoning)"\s*:\s*"(?:[^"\\]|\\.)*"`,
		},
		{name: "private-key", starts: []string{pemBegin}, scan: privateKey},
		{name: "jwt", starts: []string{"eyJ"}, shape: `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, scan: webToken},
		{
			name: "bearer", starts: []string{"bearer"}, needs: aDigit,
			shape: `(?i)\bbearer[ \t]+([A-Za-z0-9._~+/=-]{16,})`,
		},
		{
			name: "basic-auth", starts: []string{"authorization"},
			shape: `(?i)authorization["']?\s{0,8}[:=]\s{0,8}["']?basic[ \t]+([A-Za-z0-9+/]{8,}={0,2})`,
		},
		{
			name: "cookie", starts: []string{"cookie"}, needs: aCookie,
			shape: `(?i)\bcookie["']?\s{0,8}[:=,]\s{0,8}["']?([a-z0-9_.-]+=[^"'\s\\;<>{}$]*(?:; ?[a-z0-9_.-]+=?[^"'\s\\;<>{}$]*)*)`,
		},
	}
}

func addressRules() []shapeRule {
	return []shapeRule{
		{
			name: "azure-key", starts: []string{"AccountKey=", "SharedAccessKey=", "AccessKey=", "SharedAccessSignature="},
			shape: `(?:AccountKey|SharedAccessKey|AccessKey|SharedAccessSignature)=([A-Za-z0-9+/%=&.-]{20,})`,
		},
		{name: "azure-sas", starts: []string{"?sig=", "&sig="}, shape: `[?&]sig=([A-Za-z0-9%+/_-]{30,}={0,2})`},
		{
			name: "connection-string", starts: []string{"password", "pwd"}, back: semicolon, needs: aPassword,
			shape: `(?i);\s{0,8}(?:password|pwd)\s{0,8}=\s{0,8}((?:[^;"'\s\\\[\]$%<{(*]|\$[^a-z_{(;"'\s\\\[\]])[^;"'\s\\\[\]]{3,})`, // no variable
		},
		{
			name: "url-password", starts: []string{"://"}, back: scheme, needs: aPassword,
			shape: `\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@"'\\\[\]]{0,64}:([^\s/@"'\\\[\]]{1,128}(?:@[^\s/@?#"'\\\[\]]{1,128})*)@[A-Za-z0-9]`,
		},
		{
			name: "url-token", starts: []string{"://"}, back: scheme, needs: aToken,
			shape: `\b[a-z][a-z0-9+.-]{1,20}://([^\s:/@"'\\\[\]]{20,255})(?::[^\s/@"'\\\[\]]{0,128})?@[A-Za-z0-9]`,
		},
		one("slack-webhook", "https://hooks.slack.com", `https://hooks\.slack\.com/services/([A-Za-z0-9/]{20,})`),
		{
			name: "discord-webhook", starts: []string{"discord.com/api/webhooks", "discordapp.com/api/webhooks"},
			shape: `discord(?:app)?\.com/api/webhooks/[0-9]{10,}/([A-Za-z0-9_-]{40,})`,
		},
	}
}

// clientRules are the options of programs that take a password.
func clientRules() []shapeRule {
	const word = `([^\s"'\\$;|&<>](?:[^\s"'\\$]|\$[^\s"'\\({$]){5,})`
	return []shapeRule{
		{
			name: "password", starts: []string{"mysql", "mariadb", "sshpass"}, needs: aSecret,
			shape: `\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|sshpass)\b[^\n|;&]{0,160}?\s-p ?["']?` + word,
		},
		{
			name: "password", starts: []string{"docker", "podman", "helm", "skopeo", "oras", "az login", "redis-cli", "sqlcmd", "mongo", "7z "}, needs: aSecret,
			shape: `\b(?:docker login|podman login|helm registry|skopeo login|oras login|az login|redis-cli|sqlcmd|mongosh|mongodump|mongo|7z)\b` +
				`[^\n|;&]{0,160}?\s-[paP] ?["']?` + word,
		},
		{
			name: "password", starts: []string{"curl", "wget", "http "}, needs: aSecret,
			shape: `\b(?:curl|wget|http)\b[^\n|;&]{0,160}?\s(?:-u ?|-a ?|--user[= ]|--auth[= ]|--proxy-user[= ])["']?[^\s:"'\\]{1,64}:` + word,
		},
		{
			name: "password", starts: []string{"identified by"}, needs: aSecret,
			shape: `(?i)\bidentified by ["']([^\s"'\\]{6,})["']`,
		},
	}
}
