package pyjson

import "bytes"

// enter returns the index of the first byte behind the opening of the container b and white space, len(b) if b is
// something else.
func enter(b []byte, open byte) int {
	i := start(b)
	if i == len(b) || b[i] != open {
		return len(b)
	}
	return skipSpace(b, i+1)
}

// afterComma returns where the next member or element begins behind the value that ends at i, len(b) if there is none.
func afterComma(b []byte, i int) int {
	i = skipSpace(b, i)
	if i == len(b) || b[i] != ',' {
		return len(b)
	}
	return skipSpace(b, i+1)
}

// skipString returns the index behind the string that begins at i.
func skipString(b []byte, i int) int {
	if hasEnds && len(b) >= endBlock {
		return quoteIn(&b[0], i+1, len(b))
	}
	return plainSkipString(b, i)
}

// endBlock is how many bytes are looked at at once for the end of a value.
const endBlock = 64

func plainSkipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		slashes := 0
		for slashes < n && b[i+n-1-slashes] == '\\' {
			slashes++
		}
		i += n
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index behind the value that begins at i; i itself if none does.
func skipValue(b []byte, i int) int {
	if i == len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i)
	}
	for i < len(b) && !endsScalar(b[i]) {
		i++
	}
	return i
}

// skipContainer returns the index behind the container that begins at i.
func skipContainer(b []byte, i int) int {
	if hasEnds && len(b) >= endBlock {
		return closeIn(&b[0], i, len(b))
	}
	return plainSkipContainer(b, i)
}

func plainSkipContainer(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = plainSkipString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}
