package foreign

import "github.com/zeebo/xxh3"

// copyNames gives the records of a copy names of their own where they have the uuid of a
// record of the file before it, and say something else.
type copyNames struct {
	starts []int64
	copy   int                 // the number of the copy that is read
	said   map[uint64]copySaid // by uuid; only where there are copies
	names  map[uint64]uint64   // of records of this copy, by uuid
}

type copySaid struct {
	says uint64
	copy int
}

// of returns the names of the record of a line, of its parent and of its logical parent.
func (c *copyNames) of(offset int64, l claudeLine) (uuid, parent, logical uint64) {
	uuid, parent, logical = hash(l.uuid), hash(l.parent), hash(l.logical)
	if len(c.starts) == 0 {
		return uuid, parent, logical
	}
	if c.said == nil {
		c.said = map[uint64]copySaid{}
	}
	for c.copy < len(c.starts) && offset >= c.starts[c.copy] {
		c.copy, c.names = c.copy+1, map[uint64]uint64{}
	}
	before, known := c.said[uuid]
	switch {
	case !known:
		c.said[uuid] = copySaid{l.says(), c.copy}
	case before.copy != c.copy && before.says != l.says():
		c.names[uuid] = max(1, xxh3.HashSeed(nil, uuid+uint64(c.copy)))
	}
	name := func(uuid uint64) uint64 {
		if own, renamed := c.names[uuid]; renamed {
			return own
		}
		return uuid
	}
	return name(uuid), name(parent), name(logical)
}

// says returns a hash of the uuid of a record and of what it says.
func (l claudeLine) says() uint64 {
	return xxh3.HashSeed(l.attach, xxh3.HashSeed(l.content, hash(l.uuid)))
}
