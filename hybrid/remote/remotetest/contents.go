package remotetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// testNames stores under names at the limit of their length, and with each character.
func testNames(s *suite) {
	const all = "-0123456789-abcdefghijklmnopqrstuvwxyz"
	names := []string{"0", "-", "a", "-a", "a-", all, strings.Repeat("z", 120), strings.Repeat("-", 120), strings.Repeat("9", 119) + "a", strings.Repeat("9", 119) + "b"}
	for _, part := range []string{"p", all, strings.Repeat("-", 120), strings.Repeat("z", 120)} {
		for _, name := range names {
			_, err := s.r.Commit(s.Context(), part, []remote.Object{object(name, part+" "+name)}, nil)
			s.ok(err)
		}
		for _, name := range names {
			o, err := s.r.Get(s.Context(), part, name, "")
			s.ok(err)
			s.same([2]string{o.Name, string(o.Body)}, [2]string{name, part + " " + name}, "object")
		}
		var got []string
		for o, err := range s.r.List(s.Context(), part, remote.Query{}) {
			s.ok(err)
			got = append(got, o.Name)
		}
		slices.Sort(names)
		s.same(got, names, "list")
	}
}

// large is how many bytes the largest objects have that are stored here.
const large = 900 << 10

// noise is bytes that do not compress, the same each time.
func noise(n int) (all []byte) {
	for sum := sha256.Sum256(nil); len(all) < n; sum = sha256.Sum256(sum[:]) {
		all = append(all, sum[:]...)
	}
	return all[:n]
}

// bodies are contents that a remote may lose a part of.
func bodies() map[string][]byte {
	var low, high strings.Builder
	for r := rune(1); r < 0x3000; r++ {
		low.WriteRune(r)
	}
	for r := rune(0xfff0); r < 0x10010; r++ {
		high.WriteRune(r)
	}
	all := map[string][]byte{
		"none":                nil,
		"empty":               {},
		"a byte 0":            {0},
		"a byte 255":          {255},
		"half a character":    []byte("caf\xc3"),
		"text with a byte 0":  []byte("a\x00b"),
		"blanks":              []byte(" \t\r\n "),
		"line ends":           []byte("\r\n\n\r"),
		"escapes":             []byte(`"\"\\\/\u0041\b\f\n\r\t</script>&amp;`),
		"JSON":                []byte(`{"a": 1.0, "b": 1e400, "a": "\ud800"}`),
		"base64":              []byte("AAAA===="),
		"null":                []byte("null"),
		"a mark":              []byte("\ufeff{}"),
		"characters":          []byte(low.String()),
		"more characters":     []byte(high.String()),
		"not in normal form":  []byte("e\u0301 \u00e9 \u212b"),
		"much that is binary": noise(large),
		"much text":           bytes.Repeat([]byte("text that is long "), large/18),
		"much to escape":      bytes.Repeat([]byte("\x01\"\\\u2028"), large/6),
	}
	for n := range 256 {
		all["bytes"] = append(all["bytes"], byte(n))
	}
	return all
}

// testBodies stores contents, as an object and in a swap. They come back byte for byte.
func testBodies(s *suite) {
	n := 0
	for title, body := range bodies() {
		n++
		name := fmt.Sprint("body-", n)
		o := remote.Object{Name: name, Label: []byte(`{}`), Body: body}
		s.commit(nil, o)
		if got := s.get(name).Body; !bytes.Equal(got, body) {
			s.Errorf("%s: %d bytes came back otherwise", title, len(body))
		}
		o.Name = "swapped-" + name
		s.commit(&remote.Swap{Object: o})
		if got := s.get(o.Name).Body; !bytes.Equal(got, body) {
			s.Errorf("%s: %d bytes came back otherwise from a swap", title, len(body))
		}
	}
}

// testLabels stores labels, which objects and lists have.
func testLabels(s *suite) {
	labels := map[string]string{
		"empty":  `{}`,
		"values": `{"a":null,"b":true,"c":[],"d":{"e":{}},"f":"","g":-1,"h":9007199254740991,"i":0.5}`,
		"texts":  `{"a":"<x> & \"y\" \\ \u2028 \u0001 caf` + "\u00e9" + ` ` + "\U0001F600" + `","":"no name"}`,
		"blanks": "{ \"a\" : [ 1 ,\n2 ] }",
		"own":    `{"id":"x","pk":"x","label":{"label":1},"body":"x","name":"x","_etag":"x","_ts":1,"type":7,"v":"x"}`,
		"large":  `{"a":"` + strings.Repeat("0123456789abcdef", 4000) + `"}`,
	}
	for name, label := range labels {
		s.commit(nil, remote.Object{Name: name, Label: []byte(label), Body: noise(20)})
		s.sameJSON(s.get(name).Label, []byte(label))
	}
	n := 0
	for o, err := range s.r.List(s.Context(), part, remote.Query{}) {
		s.ok(err)
		s.sameJSON(o.Label, []byte(labels[o.Name]))
		read := s.get(o.Name)
		s.same(o.Version, read.Version, "version of %s in a list", o.Name)
		s.same(o.Time.Unix(), read.Time.Unix(), "time of %s in a list", o.Name)
		n++
	}
	s.same(n, len(labels), "objects in a list")
}
