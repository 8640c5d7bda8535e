package segment

import "github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"

// Options say how lines are cut. The zero value of each number is its default.
type Options struct {
	SID    string
	Target int           // bytes of a document at which the next begins: 64 KB
	Cap    int           // bytes that no segment exceeds: 1.0 MB; after a refusal for its size, half of it
	Size   int64         // bytes that will come, when it is known: what fits into two documents is not cut finer
	Draw   func() string // draws a nonce: 16 hexadecimal digits that were never used; nil: from the system
}

// Capacity is how many bytes the document of a segment has at most.
const Capacity = 1000 << 10

const (
	target    = 64 << 10
	twoDocs   = 1100 << 10 // of lines up to inlineMax, however they compress
	labelMax  = 64 << 10   // of the label of a document
	maxChunks = 1480       // of a line: their names are in a label
	inlineMax = 256 << 10  // longer lines and deltas lie in chunks
	heldMax   = 8 << 20    // bytes of the lines of a segment, unless it has only one
	largeMin  = 8 << 10    // longer lines may become deltas
)

func (o Options) filled() Options {
	if o.Cap == 0 {
		o.Cap = Capacity
	}
	if o.Target == 0 {
		o.Target = target
		if o.Size > 0 && o.Size <= twoDocs {
			o.Target = o.Cap
		}
	}
	if o.Draw == nil {
		var system *jitter.Source
		o.Draw = func() string { return system.Name(nonceLen / 2) }
	}
	o.Cap = max(o.Cap, target)
	o.Target = min(o.Target, o.Cap)
	return o
}
