package redact

import (
	"bytes"
	"slices"
	"strings"
)

var hashPrefixes = []string{"sha1-", "sha256-", "sha256:", "sha384-", "sha512-", "sha1:", "sha512:", "md5:", "h1:"}

// isReference reports whether a value says where a secret is, or is the hash of a secret.
func isReference(v value) bool {
	text := string(v.text)
	for _, p := range hashPrefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	for _, p := range []string{"arn:", "file:", "env:", "vault:", "keychain:", "op://", "process.env", "os.", "ENC[", "data:", "urn:", "ssh-", "ecdsa-", "env."} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return strings.Contains(text, "://") || strings.ContainsAny(text, " \t\n") || isDate(text) || isPath(text)
}

// isDate reports whether a text begins with a date, as 2026-01-02.
func isDate(text string) bool {
	if len(text) < len("2026-01-02") || text[4] != '-' || text[7] != '-' {
		return false
	}
	for _, i := range []int{0, 1, 2, 3, 5, 6, 8, 9} {
		if !digit(text[i]) {
			return false
		}
	}
	return true
}

// isPath reports whether a value is the path of a file. Base64 may begin with a
// slash too, but holds no words.
func isPath(text string) bool {
	rest, ok := text, false
	for _, begin := range []string{"~/", "./", "../", "/"} {
		if rest, ok = strings.CutPrefix(text, begin); ok {
			break
		}
	}
	if len(text) > 3 && text[1] == ':' && (text[2] == '\\' || text[2] == '/') && letter(text[0]) {
		return true
	}
	if !ok && strings.Count(text, "/") < 2 {
		return false
	}
	s := statisticsOf([]byte(rest))
	return !s.random() || strings.Contains(rest, ".") && strings.Count(rest, "/") > 1
}

// technical are words with digits that are no passwords.
var technical = wordSet(`sha1 sha256 sha384 sha512 md5 base64 base58 base32 utf8 utf16 aes128 aes256 rsa2048 rsa4096 ed25519 x25519 p256 hs256 hs512
	rs256 es256 oauth1 oauth2 oauth20 ipv4 ipv6 int32 int64 uint8 uint32 uint64 float32 float64 argon2 argon2id bcrypt pbkdf2 scrypt http2
	utf8mb4 secp256k1 hmac256 hmacsha256 blake2 blake3 k8s s3 varchar255 ntlmv2 tls12 tls13 base64url`)

// isWord reports whether a value is rather a word, a name or an expression:
// words with a number behind them, or a call.
func isWord(v value) bool {
	if v.next == '(' || v.next == '[' || v.next == '{' {
		return true
	}
	plain := bytes.ToLower(v.text)
	if technical[strings.NewReplacer("-", "", "_", "").Replace(string(plain))] {
		return true
	}
	s := statisticsOf(v.text)
	if s.symbols > 0 && !v.strict {
		return false
	}
	if v.strict && bytes.IndexByte(v.text, '.') > 0 && s.mixes < 3 { // a.b2
		return true
	}
	if bytes.ContainsAny(bytes.TrimRight(v.text, "_-."), "_-.") && s.mixes < 2 && (v.strict || s.turns*10 < s.length*3) { // load_secret_v2, 2024-01-01
		return true
	}
	stem := bytes.TrimRight(plain, "0123456789")
	return s.mixes == 1 && isStem[string(stem)]
}

// isStem are words that names of things with a number behind them are made of.
var isStem = wordSet(`arg param value val var str string text field input col user name key token secret password pass pwd test item version
	step part test line table column option group level config module`)

// isUUID reports whether a text is a UUID.
func isUUID(text []byte) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range text {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !digit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// endsInHash reports whether a text is some words and the hash of something, as
// keys of caches are.
func endsInHash(text []byte) bool {
	words, hash := 0, 0
	for _, part := range bytes.FieldsFunc(text, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ':' }) {
		words, hash = words+1, 0
		for _, c := range part {
			if digit(c) || c >= 'a' && c <= 'f' {
				hash++
			}
		}
		if hash < len(part) {
			hash = 0
		}
	}
	return words > 1 && hash >= 32
}

// bits is the cost of each pair of letters: the negative logarithm to the base 2 of how
// often the second follows the first, at most 9. The firsts are a to z and the beginning
// of a word; the seconds of each are a to z and the end of a word. The pairs were counted
// in the words of the identifiers of the standard libraries of Go and Python.
const bits = "" +
	"854497595963439593436677695365738883693774694463999593376738645944673795535899794" +
	"467527693896775795575788792574366687995538673348675893486544782994663694554989693" +
	"576737654995654694465789992377627993997673795655889692564555599984523595449597955" +
	"377636985958673597363779893476626583995656687456869782377527793983873798555799493" +
	"257628893976584397465999793474436384966764787436689893663476696964425493444558895" +
	"396737754974783593545989693776677866995868686561999992375527693966564695446789693" +
	"595838753976775587435979692486737843996774694455878593545645695994426493439897985" +
	"397715883997775697679879993376636853996743694468878993464645764996586397538786692" +
	"676757885996546396458879871378718974996784798787979753454445564775455474345657889"

// isJumbled reports whether a text is not made of words that are joined: its parts take
// more than 5.5 bits for a letter, of a long one more than 5.2. A short one has capitals
// and small letters too, since a single word of another language may be as rare.
func isJumbled(text []byte) bool {
	const edge, enough = 26, 20
	if len(text) < enough && !(slices.ContainsFunc(text, lower) && slices.ContainsFunc(text[1:], upper)) {
		return false
	}
	sum, letters := 0, 0
	for _, word := range wordsOf(text) {
		before := edge
		for _, c := range []byte(word) {
			sum += int(bits[before*27+int(c-'a')] - '0')
			before = int(c - 'a')
		}
		sum += int(bits[before*27+edge] - '0')
		letters += len(word)
	}
	if len(text) < enough {
		return sum*10 > letters*55
	}
	return sum*10 > letters*52
}
