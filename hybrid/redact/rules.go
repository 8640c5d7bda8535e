package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// secretsVersion changes with the rules: results of other rules are not mixed with
// theirs.
const secretsVersion = "secrets/4"

// Finder finds secrets in lines. It may be used by several goroutines.
type Finder struct {
	rules    []rule
	starts   *starts
	patterns []pattern
	values   []known
}

// Rules are a [Finder] whose results depend on their version alone.
type Rules struct {
	Finder
	version string
}

// Version names the rules. Rules of one version give the same result for the same line.
func (r *Rules) Version() string { return r.version }

// Pattern is a kind of secret that the user knows.
type Pattern struct {
	Kind  string // lower-case letters, digits and hyphens, 40 at most
	Shape string // a regular expression of package regexp; its first group, if it has one, is the secret
}

// ErrPattern is returned for a [Pattern] that cannot be used.
var ErrPattern = errors.New("redact: bad pattern")

type pattern struct {
	kind  string
	shape *regexp.Regexp
}

var kindShape = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Secrets returns the built-in rules.
func Secrets() *Rules { return &Rules{Finder: builtIn(), version: secretsVersion} }

// New returns the built-in rules and patterns of the user. A match without length is
// ignored. In a line of JSON a pattern finds only text in a string. To take out one known
// secret, use [regexp.QuoteMeta] of it as the Shape.
//
// The version holds 64 bits of a hash of the patterns, and is stored where the lines
// go. A secret that is short or in a list of passwords can be guessed from it; a
// pattern that finds more than the secret does not give it away. The error Is
// [ErrPattern].
func New(patterns ...Pattern) (*Rules, error) {
	r := Secrets()
	sum := sha256.New()
	for i, p := range patterns {
		if !kindShape.MatchString(p.Kind) {
			return nil, fmt.Errorf("%w %d: the kind must be lower-case letters, digits and hyphens, 40 at most", ErrPattern, i+1)
		}
		shape, err := regexp.Compile(p.Shape)
		if err != nil {
			return nil, fmt.Errorf("%w %d (%s): %w", ErrPattern, i+1, p.Kind, err)
		}
		r.patterns = append(r.patterns, pattern{p.Kind, shape})
		fmt.Fprintf(sum, "%q %q\n", p.Kind, p.Shape)
	}
	if len(patterns) > 0 {
		r.version += "+" + hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return r, nil
}

// builtIn makes the built-in rules once: they never change.
var builtIn = sync.OnceValue(func() Finder {
	var f Finder
	var all []start
	for _, r := range shapeRules() {
		ready := compiled(r)
		for _, text := range r.starts {
			all = append(all, start{text: text, fold: ready.fold, rule: len(f.rules)})
		}
		f.rules = append(f.rules, ready)
	}
	for _, text := range keywords {
		all = append(all, start{text: text, fold: true, rule: nameRule})
	}
	f.starts = newStarts(all)
	return f
})

// own returns the places that the user's patterns and the values of the environment find
// in a view.
func (r *Finder) own(v *view) (found []place) {
	for _, p := range r.patterns {
		for _, m := range p.shape.FindAllSubmatchIndex(v.text, -1) {
			if len(m) > 2 && m[2] >= 0 {
				m = m[2:]
			}
			if m[0] < m[1] {
				found = append(found, place{from: v.at(m[0]), to: v.at(m[1]), kind: p.kind, free: true})
			}
		}
	}
	return append(found, r.knownIn(v)...)
}
