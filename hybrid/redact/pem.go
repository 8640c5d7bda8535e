package redact

import "bytes"

// longestKey is the greatest length of a private key in a text.
const longestKey = 16 << 10

// privateKey finds the private key that a text begins with: up to its end line, or else
// up to the last text that looks like its lines. Between the lines there may be signs
// that source text and tools insert: quotes, escapes, plus signs, line numbers.
func privateKey(text []byte) match {
	head := text[:min(len(text), 80)]
	name := head[len(pemBegin):]
	dashes := bytes.Index(name, []byte("-----"))
	if dashes < 0 || !isKeyName(name[:dashes]) {
		return match{end: len(pemBegin)}
	}
	begin := len(pemBegin) + dashes + len("-----")
	body := text[begin:min(len(text), longestKey)]
	n := 0
	for n < len(body) && inKey(body[n]) {
		n++
		if body[n-1] == '-' && (bytes.HasPrefix(body[n-1:], []byte(pemEnd)) || bytes.HasPrefix(body[n-1:], []byte(pemBegin))) {
			n--
			break
		}
	}
	if !hasKeyLine(body[:n]) {
		return match{end: begin + n}
	}
	if bytes.HasPrefix(body[n:], []byte(pemEnd)) {
		name := body[n+len(pemEnd):]
		name = name[:min(len(name), 64)]
		if i := bytes.Index(name, []byte("-----")); i >= 0 && isKeyName(name[:i]) {
			n += len(pemEnd) + i + len("-----")
		}
		return match{to: begin + n, end: begin + n}
	}
	n = lastKeyLine(body[:n]) // text behind an unfinished key does not belong to it
	return match{to: begin + n, end: begin + n}
}

func isKeyName(name []byte) bool {
	for _, c := range name {
		if !upper(c) && !digit(c) && c != ' ' {
			return false
		}
	}
	return bytes.HasSuffix(name, []byte("PRIVATE KEY")) || bytes.HasSuffix(name, []byte("PRIVATE KEY BLOCK"))
}

// inKey reports whether a byte may occur between the lines that begin and end a private
// key. The bytes from 0x80 are of the arrows beside line numbers.
func inKey(c byte) bool {
	return letter(c) || digit(c) || c >= 0x80 || bytes.IndexByte([]byte("+/= \t\r\n\\\"'`:,.()|>#-"), c) >= 0
}

// hasKeyLine reports whether a text has a line that could be of a key.
func hasKeyLine(text []byte) bool { return lastKeyLine(text) > 0 }

// lastKeyLine returns the end of the last line that could be of a key: a long run of
// base64.
func lastKeyLine(text []byte) (end int) {
	const shortest = 20
	run, mixed := 0, 0
	for i, c := range text {
		switch {
		case digit(c) || upper(c) || c == '+' || c == '/':
			run, mixed = run+1, mixed+1
		case lower(c) || c == '=':
			run++
		default:
			run, mixed = 0, 0
		}
		if run >= shortest && mixed > 2 {
			end = i + 1
		}
	}
	return end
}

// webToken finds the JSON Web Token that a text begins with. Where there is none, none
// begins in the text that it has gone over either.
func webToken(text []byte) match {
	const shortest = 8
	part := func(from int) int {
		for from < len(text) && (letter(text[from]) || digit(text[from]) || text[from] == '_' || text[from] == '-') {
			from++
		}
		return from
	}
	first := part(0)
	if first < len("eyJ")+shortest || !bytes.HasPrefix(text[first:], []byte(".eyJ")) {
		return match{end: first}
	}
	second := part(first + 1)
	if second < first+len(".eyJ")+shortest || second == len(text) || text[second] != '.' {
		return match{end: first}
	}
	third := part(second + 1)
	if third < second+1+shortest {
		return match{end: second}
	}
	return match{to: third, end: third}
}
