package redact

import (
	"bytes"
	"strings"
)

// known is a secret that the process holds.
type known []byte

// shortestKnown is the least length of a value of the environment. A shorter value occurs
// in texts by accident.
const shortestKnown = 8

// WithEnviron returns the rules with the secrets of an environment, in the form of
// [os.Environ]: the values of variables whose names mark them as secret. They are found
// anywhere in a line, with the kind "environment". Paths, addresses, plain words and
// values of fewer than 8 bytes are left out.
//
// The values stay in memory: no file and no version shows them. The Finder is no
// [Redactor], because other processes have another environment and so make something else
// of the same line. Use it for lines that one process shows or exports. For lines that
// several processes send, give the value to [New].
func (r *Rules) WithEnviron(environ []string) *Finder {
	f := r.Finder
	f.values = nil
	for _, variable := range environ {
		name, text, _ := strings.Cut(variable, "=")
		if class, ok := classOf([]byte(name)); ok && len(text) >= shortestKnown && class.accepts(value{text: []byte(text), quoted: true}) {
			f.values = append(f.values, known(text))
		}
	}
	return &f
}

func (r *Finder) knownIn(v *view) (found []place) {
	for _, k := range r.values {
		for done := 0; ; {
			i := bytes.Index(v.text[done:], k)
			if i < 0 {
				break
			}
			found = append(found, place{from: v.at(done + i), to: v.at(done + i + len(k)), kind: "environment", free: true})
			done += i + len(k)
		}
	}
	return found
}
