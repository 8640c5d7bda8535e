package pyjson

// redacted is what stands in a file instead of a secret.
const redacted = `"[REDACTED]"`

// longestSecret is the length of the longest name of a secret, in which a k may be a KELVIN SIGN of three bytes.
const longestSecret = len("authorization") + len("\u212a")

// isSecret reports whether the reference redacts members of this name: the name in lower case is one of a few, exactly.
// Of the characters beyond ASCII, Python lower-cases only the KELVIN SIGN to a single letter of ASCII.
func isSecret(name []byte) bool {
	if len(name) < len("auth") || len(name) > longestSecret {
		return false
	}
	var buf [longestSecret]byte
	lower := buf[:0]
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == "\u212a"[0] && i+2 < len(name) && string(name[i:i+3]) == "\u212a":
			c = 'k'
			i += 2
		}
		lower = append(lower, c)
	}
	switch string(lower) {
	case "api_key", "apikey", "api-key", "secret", "password", "token", "credential", "credentials",
		"private_key", "privatekey", "auth", "authorization":
		return true
	}
	return false
}
