package record

import "math/rand/v2"

// A Replay makes the crash states of a record, in the order of their cuts.
type Replay struct {
	// Lies is a disk that says it has flushed and has not.
	Lies bool

	// Sector is how many bytes the disk writes whole, if it is more than 512.
	Sector int64

	all  []Entry
	done int   // entries that base has
	base Image // the certain content of the disk
}

// NewReplay returns the replay of entries on a disk with the content start.
func NewReplay(start Image, all []Entry) *Replay {
	return &Replay{all: all, base: start.Clone()}
}

// Crash returns the disk of the state, and how many writes were pending. The cut is not
// before the cuts of earlier calls.
func (r *Replay) Crash(s State) (disk Image, pending int) {
	for end := r.flushed(s); r.done < end; r.done++ {
		r.base.Apply(r.all[r.done])
	}
	var open []Entry
	for _, e := range r.all[r.done:s.Cut] {
		if e.Kind != Flush {
			open = append(open, e)
		}
	}
	disk = r.base.Clone()
	for _, e := range s.Strategy.Survivors(open, r.Sector, rand.New(rand.NewPCG(s.Seed, 3))) {
		disk.Apply(e)
	}
	return disk, len(open)
}

// flushed returns how many entries are on the disk for certain at the cut.
func (r *Replay) flushed(s State) int {
	end := r.done
	for i := r.done; i < s.Cut; i++ {
		if r.all[i].Kind == Flush {
			end = i
		}
	}
	if r.Lies { // nothing of the last entries is certain, whatever was flushed
		end = min(r.done+(end-r.done)*int(s.Seed%100)/100, s.Cut-40-int(s.Seed%200))
	}
	return max(end, r.done)
}
