package segment

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// The index of a segment holds the blocks of its messages in columns:
//
//   - the codes of the roles, two bits each, four to a byte from the lowest bits
//     on: the place of the role in roles, and 3 for all that have no place below 3;
//   - a byte for each code 3: the role's place in roles;
//   - the times as uvarints: 0 for none; 1 and another uvarint for so many seconds
//     before the last time; 2 and more for seconds behind it, plus 2. The first
//     counts from indexEpoch. Messages at the end without a time are left out.
//
// A message takes about a byte and a quarter.
const (
	otherRole  = 3
	noTime     = 0
	earlier    = 1
	later      = 2
	indexEpoch = 1577836800 // 2020-01-01 in seconds of Unix
	maxSeconds = 1 << 40    // of Unix: what no year up to 9999 reaches
)

// blockBytes is what a message takes in a document, at most: a byte for its role
// and another for its code, 11 for its time, in base64.
const blockBytes = 20

// encodeIndex returns the index of blocks.
func encodeIndex(blocks []Block) []byte {
	out := make([]byte, (len(blocks)+3)/4, 2*len(blocks)+8)
	for i, b := range blocks {
		place := max(slices.Index(roles, b.Role), 0)
		out[i/4] |= byte(min(place, otherRole)) << (i % 4 * 2)
		if place >= otherRole {
			out = append(out, byte(place))
		}
	}
	last, end := int64(indexEpoch), len(out)
	for _, b := range blocks {
		at := b.Time.Unix()
		switch {
		case b.Time.IsZero():
			out = append(out, noTime)
			continue
		case at < last:
			out = binary.AppendUvarint(append(out, earlier), uint64(last-at))
		default:
			out = binary.AppendUvarint(out, uint64(at-last)+later)
		}
		last, end = at, len(out)
	}
	return out[:end]
}

// decodeIndex reads an index of n messages, and reports whether it is one.
func decodeIndex(data []byte, n int) ([]Block, bool) {
	codes := n/4 + min(n%4, 1)
	if codes > len(data) {
		return nil, false
	}
	blocks, rest := make([]Block, n), data[codes:]
	for i := range blocks {
		place := int(data[i/4] >> (i % 4 * 2) & 3)
		if place == otherRole {
			if len(rest) == 0 || int(rest[0]) < otherRole || int(rest[0]) >= len(roles) {
				return nil, false
			}
			place, rest = int(rest[0]), rest[1:]
		}
		blocks[i].Role = roles[place]
	}
	return blocks, decodeTimes(rest, blocks)
}

// decodeTimes sets the times of blocks, and reports whether data holds times and
// nothing else.
func decodeTimes(data []byte, blocks []Block) bool {
	last := int64(indexEpoch)
	for i := range blocks {
		if len(data) == 0 {
			return true
		}
		by, n := binary.Uvarint(data)
		if n <= 0 {
			return false
		}
		data = data[n:]
		switch by {
		case noTime:
			continue
		case earlier:
			if by, n = binary.Uvarint(data); n <= 0 || by > math.MaxInt64 {
				return false
			}
			data, last = data[n:], last-int64(by)
		default:
			if by > maxSeconds {
				return false
			}
			last += int64(by - later)
		}
		if last < -maxSeconds || last > maxSeconds {
			return false
		}
		blocks[i].Time = time.Unix(last, 0).UTC()
	}
	return len(data) == 0
}
