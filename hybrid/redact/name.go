package redact

import (
	"bytes"
	"slices"
	"strings"
)

// keywords are the parts of names that mark their value as a secret. They are found in
// any case; [classOf] decides.
var keywords = []string{"secr", "toke", "key", "pass", "pwd", "cred", "auth", "pat", "dsn"}

// class is the meaning of a name for its value.
type class uint8

const (
	password class = iota // a person may have made it up
	secret                // a program made it
	token                 // a secret if it looks random
	key                   // most things of that name are no secrets
	auth
	pat // a personal access token, or a pattern
	dsn // the source of data, which may hold a password
)

func (c class) String() string {
	return [...]string{"password", "secret", "token", "key", "auth", "token", "secret"}[c]
}

// Words in a name that mark a secret. Other words may be joined before them, as in
// dbpassword.
var (
	passwordWords = []string{"password", "passwd", "passphrase", "passcode", "pwd"}
	secretWords   = []string{
		"secret", "secrets", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "accountkey", "masterkey", "authkey", "sharedkey",
		"signingkey", "encryptionkey", "subscriptionkey", "credential", "credentials", "creds", "cred",
	}
	tokenWords = []string{"token", "authtoken"}
)

// keyOf are words that make a secret of a key behind them.
var keyOf = wordSet(`api access secret private account master encryption signing shared auth subscription service admin client storage
	hmac jwt cosmos azure openai anthropic stripe session deploy write function host functions app license licence webhook aes crypt crypto
	cipher x openrouter gemini groq mistral search maps sendgrid twilio datadog algolia postgres redis db database root user bot github
	sas connection instrumentation integration server backup decryption wrapping vault kms pgp gpg ssh age wireguard preshared psk`)

// notKeyOf and notTokenOf are words that make something else of a key or a
// token behind them.
var (
	notKeyOf = wordSet(`public pub primary foreign partition cache sort row hot hash range group map object dedup idempotency routing query
		lookup unique composite index i18n translation locale config setting option json dict state event prop react shortcut ctrl arrow any
		press known metadata feature surrogate natural candidate parent child file blob s3 record item message topic registry translation
		enter escape tab return function_name legend answer low high major minor`)
	notTokenOf = wordSet(`next page continuation cursor sync resume max min total prompt completion input output num n cancellation cancel
		eos bos pad unk stop special mask cls sep start end current syntax lexer first last previous prev peek word sub per used`)
)

// notBehind are words that make something else of the words before them.
var notBehind = wordSet(`id ids name names file files filename path paths dir directory folder url uri urls endpoint host count counts limit
	limits length len size type types kind mode method format usage hash hashes hashed digest fingerprint thumbprint checksum field fields label hint
	policy version expiry expires expiration expired ttl age at time date created timeout index prefix suffix regex pattern rule rules
	manager service class provider status state error errors exists required enabled disabled ref reference alias map list position
	offset budget rate cost price window estimate used remaining cached input output reader writer algorithm alg bits scope scopes
	placeholder description title help message text_id selector locator button input func fn callback handler hook event factory
	generator validator parser schema column param parameter arg attribute sock socket info level strength confirmation_label
	length_min min max flow grant audience issuer domain realm header scheme required_message rotation frequency lifetime store arn
	manager_id env var words binding events pub public reason reasons request requests response responses issue issues`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// classOf returns the class of a name, and false when it is not the name of a secret.
func classOf(name []byte) (class, bool) {
	words := wordsOf(name)
	if slices.Contains(words, "public") {
		return 0, false
	}
	at, found := -1, class(0)
	for i := len(words) - 1; i >= 0 && at < 0; i-- {
		if c, ok := classOfWord(words, i); ok {
			at, found = i, c
		} else if notBehind[words[i]] {
			return 0, false
		}
	}
	return found, at >= 0
}

// classOfWord returns the class of the word i of a name.
func classOfWord(words []string, i int) (class, bool) {
	word, before := words[i], ""
	if i > 0 {
		before = words[i-1]
	}
	ends := func(all []string) bool {
		return slices.ContainsFunc(all, func(w string) bool { return strings.HasSuffix(word, w) })
	}
	switch {
	case ends(passwordWords), word == "pass" && i == len(words)-1, word == "pw" && i == len(words)-1:
		return password, true
	case ends(secretWords):
		return secret, true
	case word == "key" && keyOf[before]:
		return secret, true
	case word == "key" && !notKeyOf[before]:
		return key, true
	case ends(tokenWords) && !notTokenOf[before]:
		return token, true
	case word == "pat" && i == len(words)-1:
		return pat, true
	case word == "dsn" && i == len(words)-1:
		return dsn, true
	case word == "auth", word == "oauth", word == "authorization":
		return auth, true
	}
	return 0, false
}

// wordsOf splits a name at bytes that are no letters, and where small letters are
// followed by a capital. It returns the words in lower case.
func wordsOf(name []byte) (words []string) {
	from := 0
	add := func(to int) {
		if from < to {
			words = append(words, string(bytes.ToLower(name[from:to])))
		}
	}
	for i, c := range name {
		switch {
		case !letter(c):
			add(i)
			from = i + 1
		case upper(c) && i > from && (lower(name[i-1]) || i+1 < len(name) && lower(name[i+1])):
			add(i)
			from = i
		}
	}
	add(len(name))
	return words
}
