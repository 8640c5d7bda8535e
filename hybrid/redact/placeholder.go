package redact

import (
	"bytes"
)

// placeholders are parts of values that people write where a secret belongs.
var placeholders = []string{
	"your", "example", "changeme", "change_me", "change-me", "placeholder", "redacted", "dummy", "xxxx", "insert", "replace", "****", "....",
	"secret_here", "-here", "_here", "todo", "fixme", "fake", "mysecret", "mypassword", "my-secret", "my_secret", "my-token", "my_token",
	"my-key", "my_key", "mytoken", "my-api", "my_api", "notreal", "not-real", "12345678", "123456", "abcdef12", "abc123", "deadbeef",
	"test-token", "test_token", "test-key", "test_key", "testkey", "testtoken", "test-secret", "somesecret", "some-secret", "some_secret",
	"sample", "foobar", "password", "passwort", "passwd", "hidden", "masked", "\u2026", "\u2022\u2022",
}

// parts are texts in lower case by the letter that they begin with.
type parts [256][]string

func partsOf(all ...string) (p parts) {
	for _, part := range all {
		p[part[0]] = append(p[part[0]], part)
	}
	return p
}

var (
	placeholderParts = partsOf(placeholders...)
	exampleParts     = partsOf("example", "placeholder", "xxxxxx",
		"eby8vdm02xnocqflquwjpllm", "c2y6ydjf5/r+ob0n8a7cgv30") // the last two begin the well-known keys of the emulators of Azure
)

// isPlaceholder reports whether a value is a placeholder for a secret.
func isPlaceholder(text []byte) bool {
	first, last := text[0], text[len(text)-1]
	switch {
	case first == '$' || first == '<' || first == '{' && last == '}' || first == '%' || first == '@':
		return true
	case first == '[' && last == ']' || first == '(' || first == '*':
		return true
	case bytes.Contains(text, []byte("${")), bytes.Contains(text, []byte("$(")), bytes.Contains(text, []byte("{{")),
		bytes.HasPrefix(text, []byte("[redacted:")), bytes.Contains(text, []byte("#{")):
		return true
	case bytes.IndexByte(text, '<') >= 0 && bytes.IndexByte(text, '>') >= 0, bytes.IndexByte(text, '{') >= 0 && bytes.IndexByte(text, '}') >= 0:
		return true
	}
	if len(text) < 7 && (bytes.EqualFold(text, []byte("secret")) || bytes.EqualFold(text, []byte("pass"))) {
		return true
	}
	return isExample(text) || holdsAny(text, &placeholderParts)
}

// isExample reports whether a value looks like an example: it has the word, or one
// character over and over.
func isExample(text []byte) bool {
	seen, kinds, run := [256]bool{}, 0, 1
	for i, c := range text {
		if !seen[c] {
			seen[c] = true
			kinds++
		}
		if i > 0 && c == text[i-1] {
			run++
		} else {
			run = 1
		}
		if run >= 8 {
			return true
		}
	}
	return kinds < min(5, len(text)) || holdsAny(text, &exampleParts)
}

// holdsAny reports whether a text holds one of the parts, in any case.
func holdsAny(text []byte, all *parts) bool {
	for i, c := range text {
		if upper(c) {
			c |= 0x20
		}
		for _, part := range all[c] {
			if len(text)-i >= len(part) && bytes.EqualFold(text[i:i+len(part)], []byte(part)) {
				return true
			}
		}
	}
	return false
}
