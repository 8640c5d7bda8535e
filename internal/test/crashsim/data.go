package crashsim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// sector is the size of the pieces of a write that reach a disk on their own.
const sector = 512

// A policy decides which of the unsynced changes have reached the disk.
type policy struct {
	name string
	keep func(inode, i int, c change) kept
}

// policies returns the ways in which the unsynced data may have been kept,
// the two extremes first.
func (d *disk) policies(tears, seeds int, seed uint64) []policy {
	list := []policy{{"all", func(_, _ int, c change) kept { return whole(c) }}}
	dirty := d.dirty()
	if len(dirty) == 0 {
		return list
	}
	list = append(list,
		policy{"none", func(_, _ int, c change) kept { return kept{} }},
		policy{"all but written bytes", func(_, _ int, c change) kept { return kept{inode: c.kind != seam.Write} }},
		policy{"sizes and times only", func(_, _ int, c change) kept { return kept{inode: true} }},
	)
	if len(dirty) > 1 {
		for _, p := range dirty {
			list = append(list, single(p)...)
		}
	}
	for _, p := range dirty {
		list = append(list, d.torn(p, tears, rand.New(rand.NewPCG(seed, uint64(p.inode))))...)
	}
	for i := range seeds {
		list = append(list, half(seed+uint64(i)))
	}
	return list
}

// dirty returns the files that have unsynced changes.
func (d *disk) dirty() []place {
	var list []place
	paths := map[int]string{}
	for _, p := range d.volatile.places() {
		paths[p.inode] = p.path
	}
	for n, f := range d.inodes {
		if !f.dirty() {
			continue
		}
		name := paths[n]
		if name == "" {
			name = "a removed file"
		}
		list = append(list, place{name, n})
	}
	return list
}

// single keeps the changes of one file only, and the changes of all other files only.
func single(p place) []policy {
	only := func(n, _ int, c change) kept {
		if n != p.inode {
			return kept{}
		}
		return whole(c)
	}
	others := func(n, _ int, c change) kept {
		if n == p.inode {
			return kept{}
		}
		return whole(c)
	}
	return []policy{{"all of " + p.path + " only", only}, {"all but that of " + p.path, others}}
}

// torn keeps everything but the end of a file's last write, with and without
// the size that the file was to have.
func (d *disk) torn(p place, tears int, rng *rand.Rand) []policy {
	changes := d.inodes[p.inode].changes
	last := len(changes) - 1
	for last >= 0 && (changes[last].kind != seam.Write || changes[last].fixed) {
		last--
	}
	if last < 0 {
		return nil
	}
	var list []policy
	for _, at := range cuts(changes[last], tears, rng) {
		for _, size := range []bool{false, true} {
			name := fmt.Sprintf("%s torn at %d of %d", p.path, at, len(changes[last].data))
			if size {
				name += ", NULs to its size"
			}
			list = append(list, policy{name, func(n, i int, c change) kept {
				if n != p.inode || i != last {
					return whole(c)
				}
				return kept{[]span{{0, at}}[:min(at, 1)], size}
			}})
		}
	}
	return list
}

// cuts returns at most limit places at which the write c is torn: all, or the
// edges, those around the first and the last line feed and at the first page,
// and seeded ones.
func cuts(c change, limit int, rng *rand.Rand) []int {
	n := len(c.data)
	if n <= limit {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		return list
	}
	first, last := bytes.IndexByte(c.data, '\n'), bytes.LastIndexByte(c.data, '\n')
	page := 8*sector - int(c.off%(8*sector))
	list := []int{0, n - 1, 1, last, last + 1, first, first + 1, page, n / 2}
	seen := map[int]bool{}
	list = slices.DeleteFunc(list, func(at int) bool {
		bad := at < 0 || at >= n || seen[at]
		seen[at] = true
		return bad
	})
	list = list[:min(len(list), limit)]
	for len(list) < limit {
		if at := rng.IntN(n); !seen[at] {
			seen[at] = true
			list = append(list, at)
		}
	}
	slices.Sort(list)
	return list
}

// half keeps a seeded part: of each file nothing, everything or some changes,
// and of a write some of its sectors.
func half(seed uint64) policy {
	return policy{fmt.Sprintf("half by seed %d", seed), func(n, i int, c change) kept {
		file := rand.New(rand.NewPCG(seed, uint64(n))).IntN(4)
		rng := rand.New(rand.NewPCG(seed, uint64(n)<<32|uint64(i)|1<<63))
		switch {
		case file == 0:
			return kept{}
		case file == 1:
			return whole(c)
		case c.kind != seam.Write:
			return kept{inode: rng.IntN(2) == 1}
		}
		return kept{sectors(c, rng), rng.IntN(2) == 1}
	}}
}

// sectors returns some of the pieces of a write, cut at the file's sectors;
// of a write within one sector its beginning.
func sectors(c change, rng *rand.Rand) []span {
	n := len(c.data)
	from, to := 0, min(n, sector-int(c.off%sector))
	if to == n {
		return []span{{0, rng.IntN(n + 1)}}
	}
	var list []span
	for from < n {
		if rng.IntN(2) == 1 {
			list = append(list, span{from, to})
		}
		from, to = to, min(n, to+sector)
	}
	return list
}
