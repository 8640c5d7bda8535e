package jsondoc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may be nested.
const MaxDepth = 128

// ParseObject reads data as one JSON object and nothing else.
func ParseObject(data []byte) (*Object, error) {
	v, err := Parse(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, errors.New("not an object")
	}
	return o, nil
}

// Parse reads data as one JSON value and nothing else. It refuses invalid
// UTF-8, unpaired surrogates, repeated names, numbers that are no finite
// double and what is nested deeper than [MaxDepth].
func Parse(data []byte) (Value, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("invalid UTF-8")
	}
	p := &parser{data: bytes.TrimPrefix(data, []byte("\ufeff"))}
	v, err := p.value(0)
	if err == nil {
		if p.space(); p.at < len(p.data) {
			err = p.unexpected()
		}
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

type parser struct {
	data []byte
	at   int
}

func (p *parser) space() {
	for p.at < len(p.data) && bytes.IndexByte([]byte(" \t\r\n"), p.data[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	if p.space(); p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

func (p *parser) unexpected() error {
	if p.at >= len(p.data) {
		return errors.New("unexpected end")
	}
	return fmt.Errorf("unexpected character at offset %d", p.at)
}

func (p *parser) value(depth int) (Value, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	switch p.peek() {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return p.string()
	}
	for word, v := range map[string]Value{"null": nil, "true": true, "false": false} {
		if bytes.HasPrefix(p.data[p.at:], []byte(word)) {
			p.at += len(word)
			return v, nil
		}
	}
	return p.number()
}

func (p *parser) object(depth int) (Value, error) {
	p.at++
	o, seen := &Object{}, map[string]bool{}
	for first := true; p.peek() != '}'; first = false {
		if !first && !p.take(',') || p.peek() != '"' {
			return nil, p.unexpected()
		}
		name, err := p.string()
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("repeated name before offset %d", p.at)
		}
		if seen[name] = true; !p.take(':') {
			return nil, p.unexpected()
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		o.members = append(o.members, Member{name, v})
	}
	p.at++
	return o, nil
}

func (p *parser) array(depth int) (Value, error) {
	p.at++
	out := []Value{}
	for p.peek() != ']' {
		if len(out) > 0 && !p.take(',') {
			return nil, p.unexpected()
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	p.at++
	return out, nil
}

func (p *parser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) number() (Value, error) {
	start := p.at
	run := func() (n int) {
		for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
			p.at++
			n++
		}
		return n
	}
	accept := func(set string) bool {
		ok := p.at < len(p.data) && bytes.IndexByte([]byte(set), p.data[p.at]) >= 0
		if ok {
			p.at++
		}
		return ok
	}
	accept("-")
	lead := p.at
	digits := run()
	good := digits > 0 && (digits == 1 || p.data[lead] != '0')
	if good && accept(".") {
		good = run() > 0
	}
	if good && accept("eE") {
		accept("+-")
		good = run() > 0
	}
	if !good {
		return nil, p.unexpected()
	}
	f, _ := strconv.ParseFloat(string(p.data[start:p.at]), 64)
	if math.IsInf(f, 0) {
		return nil, fmt.Errorf("number out of range at offset %d", start)
	}
	return f, nil
}

// string reads a string, whose quote is next.
func (p *parser) string() (string, error) {
	p.at++
	var out []byte
	for {
		n := bytes.IndexAny(p.data[p.at:], "\"\\")
		if n < 0 {
			p.at = len(p.data)
			return "", p.unexpected()
		}
		run := p.data[p.at : p.at+n]
		if i := slices.IndexFunc(run, func(c byte) bool { return c < ' ' }); i >= 0 {
			p.at += i
			return "", p.unexpected()
		}
		out = append(out, run...)
		p.at += n + 1
		if p.data[p.at-1] == '"' {
			return string(out), nil
		}
		var err error
		if out, err = p.escape(out); err != nil {
			return "", err
		}
	}
}

// escape appends what the escape after a backslash means.
func (p *parser) escape(out []byte) ([]byte, error) {
	if p.at >= len(p.data) {
		return nil, p.unexpected()
	}
	c := p.data[p.at]
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), c); i >= 0 {
		p.at++
		return append(out, "\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := p.unicode()
	if ok && utf16.IsSurrogate(r) {
		var low rune
		if p.at < len(p.data) && p.data[p.at] == '\\' {
			p.at++
			low, ok = p.unicode()
		}
		r = utf16.DecodeRune(r, low)
		ok = ok && r != utf8.RuneError
	}
	if !ok {
		return nil, p.unexpected()
	}
	return utf8.AppendRune(out, r), nil
}

// unicode reads u and four digits.
func (p *parser) unicode() (rune, bool) {
	if p.at+5 > len(p.data) || p.data[p.at] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.data[p.at+1:p.at+5]), 16, 16)
	p.at += 5
	return rune(n), err == nil
}
