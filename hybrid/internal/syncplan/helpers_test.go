package syncplan

import (
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// history is the lines of a transcript, one character each.
type history string

func (h history) tip() segment.Point { return h.point(h.len()) }

func (h history) len() int { return len([]rune(h)) }

// point returns the place behind the first n lines.
func (h history) point(n int) segment.Point {
	p := segment.Origin(segment.Transcript)
	for _, line := range []rune(h)[:n] {
		p = p.Add([]byte(string(line)))
	}
	return p
}

func (h history) has(p segment.Point) (bool, error) {
	return p.N <= int64(h.len()) && h.point(int(p.N)) == p, nil
}

// input makes an input of histories. A base of "-" is none.
func input(local, base, remote history) Input {
	in := Input{
		Local:  Local{Present: true, Tip: local.tip(), Has: local.has},
		Remote: Remote{Present: true, Tip: remote.tip(), Has: remote.has},
	}
	if base != "-" {
		b := base.tip()
		in.Base = &b
	}
	return in
}
