package picture

// Data is a picture as base64, of the standard or the URL alphabet, with or without padding.
type Data struct {
	text []byte // without padding
	url  bool
}

// values are the values of the characters of base64 plus 1; 0: not of an alphabet.
var values = func() (of [256]byte) {
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		of[c] = byte(i) + 1
	}
	of['-'], of['_'] = 63, 64
	return of
}()

// Read returns the data that a text holds, or false where it is not base64. White space in the
// text does not count. Read copies the text only where it has white space.
func Read(text []byte) (d Data, ok bool) {
	text, ok = plain(text)
	if !ok {
		return d, false
	}
	url, standard := false, false
	for _, c := range text {
		if values[c] == 0 {
			return d, false
		}
		url, standard = url || c == '-' || c == '_', standard || c == '+' || c == '/'
	}
	return Data{text, url}, !(url && standard) && len(text)%4 != 1
}

// plain returns a text without white space and padding; false: padding is in the middle.
func plain(text []byte) ([]byte, bool) {
	for i, c := range text {
		if c != ' ' && (c < '\t' || c > '\r') {
			continue
		}
		kept := append([]byte(nil), text[:i]...)
		for _, c := range text[i:] {
			if c != ' ' && (c < '\t' || c > '\r') {
				kept = append(kept, c)
			}
		}
		text = kept
		break
	}
	n := len(text)
	for n > 0 && text[n-1] == '=' {
		n--
	}
	return text[:n], len(text)-n <= 2
}

// URL reports whether the data are of the URL alphabet.
func (d Data) URL() bool { return d.url }

// Len returns the number of bytes.
func (d Data) Len() int { return len(d.text) * 3 / 4 }

// AppendTo appends the bytes from off up to and without end to dst; fewer, where the data end.
func (d Data) AppendTo(dst []byte, off, end int) []byte {
	if end = min(end, d.Len()); off >= end {
		return dst
	}
	from := len(dst)
	for text := d.text[off/3*4:]; len(dst)-from < end-off/3*3; text = text[min(4, len(text)):] {
		var group [4]byte
		for i := range min(4, len(text)) {
			group[i] = values[text[i]] - 1
		}
		dst = append(dst, group[0]<<2|group[1]>>4, group[1]<<4|group[2]>>2, group[2]<<6|group[3])
	}
	dst = append(dst[:from], dst[from+off%3:]...)
	return dst[:from+end-off]
}
