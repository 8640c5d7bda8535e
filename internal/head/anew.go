package head

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// An Anew tells that all lines and files of a session were written anew, so that they
// have other hashes: each line in the form that some rules of redaction gave to the
// former one. Lines and files that came later went through rules that follow these.
type Anew struct {
	Generation int64  `json:"g,omitempty"` // how often lines or files got another form; 0: never
	Rules      string `json:"v,omitempty"` // version of the rules
	// Ends are those of the transcript in the latest generations, the latest last; at
	// most [MaxEnds].
	Ends []End `json:"ends,omitempty"`
	// Was is where the transcript ended before that, and Now the same place in it.
	Was segment.Point `json:"was,omitzero"`
	Now segment.Point `json:"now,omitzero"`
}

// An End is where the transcript ended before and after it was written anew.
type End struct {
	Was segment.Point `json:"was"`
	Now segment.Point `json:"now"`
}

// MaxEnds is how many generations a head tells the ends of.
const MaxEnds = 3

// Next begins another generation, in which the transcript ends elsewhere.
func (a *Anew) Next(e End) {
	a.Generation++
	a.Ends = append(slices.Clone(a.Ends), e)
	a.Ends = a.Ends[max(0, len(a.Ends)-MaxEnds):]
}

// Follow returns where an end of a former generation is now. A place that was the end no
// more when the session was written anew is none of the ends since, and stays what it is.
// It reports false for a generation that is too long ago.
func (a *Anew) Follow(generation int64, p segment.Point) (segment.Point, bool) {
	first := a.Generation - int64(len(a.Ends))
	if generation < first || generation > a.Generation {
		return p, false
	}
	for _, e := range a.Ends[generation-first:] {
		if p == e.Was {
			p = e.Now
		}
	}
	return p, true
}
