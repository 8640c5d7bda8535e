package index

import "github.com/zeebo/xxh3"

// Place is a place between two messages of a transcript. The zero Place is the
// beginning.
type Place struct {
	Offset      int64  // the beginning of a line, at which reading may begin; set in a place that [Rows] returns
	Rows, Turns int    // messages and turns that begin before it
	Prefix      Prefix // of these messages
}

// Pass makes p the place behind the message that follows. sum is the hash of its line.
func (p *Place) Pass(beginsTurn bool, sum xxh3.Uint128) {
	p.Offset = 0
	p.Rows++
	if beginsTurn {
		p.Turns++
	}
	p.Prefix = p.Prefix.Plus(sum)
}

// Prefix identifies the first messages of a transcript. It is a chained hash: each
// message adds the hash of its line to the prefix of the messages before. It depends
// neither on blank lines nor on offsets. The zero Prefix belongs to no messages.
type Prefix xxh3.Uint128

// Plus returns the prefix with one more message, the line of which has the hash
// sum.
func (p Prefix) Plus(sum xxh3.Uint128) Prefix {
	var both [2 * sumSize]byte
	return Prefix(xxh3.Hash128(appendSum(appendSum(both[:0], xxh3.Uint128(p)), sum)))
}
