package record

import (
	"math/rand/v2"
	"strings"
)

// A Strategy decides which of the writes since the last flush reach the disk.
type Strategy string

// Strategies are the known strategies. With "any-order" the writes reach the disk in any
// order; "torn" writes do so in pieces of 4096 bytes, "sectors" in pieces of 512, or of a
// sector if that is larger.
var Strategies = []Strategy{
	"none", "all", "prefix", "subset", "subset-any-order", "torn", "torn-any-order", "sectors", "sectors-any-order",
}

// large is the size from which an entry, such as the discard of a whole disk,
// is not torn.
const large = 64 << 20

// Survivors returns the pending writes that reach the disk, in the order in
// which they do. The disk writes each sector, of so many bytes, whole.
func (s Strategy) Survivors(pending []Entry, sector int64, rng *rand.Rand) []Entry {
	likely := []float64{0.1, 0.5, 0.9}[rng.IntN(3)]
	switch s {
	case "none":
		return nil
	case "all":
		return pending
	case "prefix":
		return pending[:rng.IntN(len(pending)+1)]
	}
	if size := s.piece(); size > 0 {
		pending = pieces(pending, max(size, sector))
	}
	var kept []Entry
	for _, e := range pending {
		if rng.Float64() < likely {
			kept = append(kept, e)
		}
	}
	if strings.HasSuffix(string(s), "any-order") {
		rng.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
	}
	return kept
}

// piece is the size of the pieces into which writes are torn; zero: they are not.
func (s Strategy) piece() int64 {
	switch {
	case strings.HasPrefix(string(s), "torn"):
		return 4096
	case strings.HasPrefix(string(s), "sectors"):
		return 512
	}
	return 0
}

// pieces cuts entries at multiples of size.
func pieces(all []Entry, size int64) []Entry {
	var out []Entry
	for _, e := range all {
		if e.Len > large {
			out = append(out, e)
			continue
		}
		for off := int64(0); off < e.Len; {
			n := min(e.Len-off, size-(e.Off+off)%size)
			p := Entry{Kind: e.Kind, Off: e.Off + off, Len: n}
			if e.Kind == Write {
				p.Data = e.Data[off : off+n]
			}
			out = append(out, p)
			off += n
		}
	}
	return out
}
