package crashsim

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// manyMoves is how many name operations have all of their subsets tried.
const manyMoves = 4

// masks returns which of the unsynced name operations may have been kept, as
// one '0' or '1' for each: none, all, every prefix; on a disk that is not
// ordered also every prefix of one directory with none or all of the others,
// all but one, only one, and seeded subsets, or every subset of few.
func (d *disk) masks(seeds int, rng *rand.Rand) []string {
	n := len(d.moves)
	list := prefixes(n)
	if d.ordered || n == 0 {
		return list
	}
	for i := range n {
		list = append(list, with(zeros(n), '1', i), with(ones(n), '0', i))
	}
	list = append(list, d.perDirectory()...)
	if n <= manyMoves {
		for subset := range 1 << n {
			list = append(list, mask(n, func(i int) bool { return subset>>i&1 == 1 }))
		}
	} else {
		for range seeds {
			list = append(list, mask(n, func(int) bool { return rng.IntN(2) == 1 }))
		}
	}
	return distinct(list)
}

// perDirectory returns the prefixes of each directory's operations, with none
// and with all of the other directories' operations.
func (d *disk) perDirectory() []string {
	n := len(d.moves)
	byDir := map[int][]int{}
	for i, m := range d.moves {
		for _, b := range m.set {
			if list := byDir[b.dir]; len(list) == 0 || list[len(list)-1] != i {
				byDir[b.dir] = append(list, i)
			}
		}
	}
	var list []string
	for dir := range d.inodes {
		for k := range len(byDir[dir]) + 1 {
			kept, lost := byDir[dir][:k], byDir[dir][k:]
			list = append(list, with(zeros(n), '1', kept...), with(ones(n), '0', lost...))
		}
	}
	return list
}

// survived returns the names on a disk that kept the operations in a mask.
func (d *disk) survived(mask string) tree {
	t := maps.Clone(d.durable)
	for i, m := range d.moves {
		if mask[i] == '1' && t.allows(m, d.isDir) {
			t.apply(m)
		}
	}
	return t
}

// prefixes returns the masks of the prefixes of n operations: none and all first.
func prefixes(n int) []string {
	list := []string{zeros(n), ones(n)}
	for i := 1; i < n; i++ {
		list = append(list, ones(i)+zeros(n-i))
	}
	return distinct(list)
}

func zeros(n int) string { return strings.Repeat("0", n) }
func ones(n int) string  { return strings.Repeat("1", n) }

// with returns the mask with the digits at some places replaced.
func with(m string, digit byte, at ...int) string {
	b := []byte(m)
	for _, i := range at {
		b[i] = digit
	}
	return string(b)
}

// mask returns the mask of the operations for which keep is true.
func mask(n int, keep func(int) bool) string {
	b := []byte(zeros(n))
	for i := range b {
		if keep(i) {
			b[i] = '1'
		}
	}
	return string(b)
}

// distinct returns list without repetitions, in its order.
func distinct(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}
