package index

import "github.com/zeebo/xxh3"

// Prefix stands for the first messages of a transcript: it is a hash over the
// hashes of their lines, each of which is added to that of the messages before.
// It tells nothing of blank lines and of where the messages stand. The zero
// Prefix is that of no messages.
type Prefix xxh3.Uint128

// Plus returns the prefix with one more message, the line of which has the hash
// sum.
func (p Prefix) Plus(sum xxh3.Uint128) Prefix {
	var both [2 * sumSize]byte
	return Prefix(xxh3.Hash128(appendSum(appendSum(both[:0], xxh3.Uint128(p)), sum)))
}
