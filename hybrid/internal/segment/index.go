package segment

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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
	maxSeconds = 1 << 40    // of Unix: later than the year 9999
)

// blockBytes is the largest number of bytes that a message takes in a document: a byte
// for its role and another for its code, 11 for its time, in base64.
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

// decodeIndex reads an index of n messages, and reports whether it is valid.
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

// A place is where a row is stored.
type place struct {
	in Info
	i  int
}

// record returns record n, which is on the history of segment s before its end. It goes
// back from delta to delta until it finds a whole line, and comes forward again, with one
// segment and one line in memory. The line is not checked by itself: the line that is
// made with it is.
func (r *reader) record(s *Segment, n int64) (line []byte, err error) {
	var way []place
	for {
		at, err := r.locate(s.Info, n)
		if err != nil {
			return nil, err
		}
		if s, err = r.reload(s, at); err != nil {
			return nil, err
		}
		way = append(way, at)
		ref := s.rows[at.i].ref
		if ref == nil || ref.As != asDelta {
			break
		}
		n = *ref.Base
	}
	for i := len(way) - 1; i >= 0; i-- {
		if s, err = r.reload(s, way[i]); err != nil {
			return nil, err
		}
		row := &s.rows[way[i].i]
		data, err := stored(r.src, s, row)
		if errors.Is(err, ErrDamaged) {
			return nil, r.damaged(&s.Info, err)
		}
		if err != nil {
			return nil, err
		}
		if row.ref == nil || row.ref.As != asDelta {
			line = data
		} else if line, err = apply(line, data, row.ref); err != nil {
			return nil, err
		}
	}
	return line, nil
}

// reload returns the segment of a place, which may be s.
func (r *reader) reload(s *Segment, at place) (*Segment, error) {
	if s.ID == at.in.ID {
		return s, nil
	}
	got, err := load(r.src, &at.in)
	if errors.Is(err, ErrDamaged) {
		return nil, r.damaged(&at.in, err)
	}
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", at.in.ID, err)
	}
	return got, nil
}

// locate finds record n on the history of the segment in.
func (r *reader) locate(in Info, n int64) (place, error) {
	for in.From.N > n {
		var before []*Info
		for i := range r.infos {
			if b := &r.infos[i]; b.Stream == r.st && b.From.N < in.From.N && b.To.N >= in.From.N {
				before = append(before, b)
			}
		}
		found := reach(before, n, in.From)
		if found == nil {
			return place{}, &GapError{Stream: r.st, From: n, To: in.From.N, Damage: r.damage}
		}
		in = *found
	}
	return place{in, int(n - in.From.N)}, nil
}

// An Identity names the user, project and session. The key made of it holds no personal
// data, and no two identities share one.
type Identity struct {
	User, Project, Session string
}

// Check refuses names with which two identities could be the same.
func (k Identity) Check() error {
	if strings.Contains(k.User+k.Project+k.Session, "\x00") {
		return errors.New("check identity: NUL in a name")
	}
	return nil
}

// SID returns the key of the session, 32 characters of a-z and 2-7.
func (k Identity) SID() string { return digest(k.User, k.Project, k.Session) }

// UID returns the key of the catalogue of the project.
func (k Identity) UID() string { return digest(k.User, k.Project) }

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte("1\x00\x00" + strings.Join(parts, "\x00")))
	return base32.NewEncoding(alphabet).EncodeToString(sum[:])[:32]
}

// isSID reports whether s has the form of a key.
func isSID(s string) bool { return len(s) == 32 && strings.Trim(s, alphabet) == "" }

// HeadID is the id of the head of session sid.
func HeadID(sid string) string { return sid + "-head" }

// HistoryID is the id of a history of session sid. The nonce of each is drawn.
func HistoryID(sid, nonce string) string { return sid + "-h-" + nonce }

// GoneID is the id of a document with condemned names of session sid. Its nonce is drawn.
func GoneID(sid, nonce string) string { return sid + "-g-" + nonce }

// ID is the id of a segment with the lines between two points. Its nonce, which [Options]
// draw, makes it unique. The ids of a stream are in the order of their ends.
func ID(sid string, s Stream, from, to Point, nonce string) string {
	return fmt.Sprintf("%s%010x-%x-%s", SegmentPrefix(sid, s), to.N, to.N-from.N, nonce)
}

// SegmentPrefix is the prefix of the ids of all segments of a stream.
func SegmentPrefix(sid string, s Stream) string {
	return sid + "-s-" + strings.ReplaceAll(string(s), ".", "g") + "-" // a name has no dot
}

// SegmentsAfter is a text behind the ids of a stream's segments that end at record n or
// before, and before the others.
func SegmentsAfter(sid string, s Stream, n int64) string {
	return fmt.Sprintf("%s%010x", SegmentPrefix(sid, s), n+1)
}

// nonceLen is the number of hexadecimal digits of a nonce.
const nonceLen = 16

// isNonce reports whether s has the form of a nonce.
func isNonce(s string) bool { return len(s) == nonceLen && strings.Trim(s, "0123456789abcdef") == "" }

// ChunkID is the id of a chunk by its name, see chunkName.
func ChunkID(sid, name string) string { return sid + "-c-" + name }

// chunkName names a chunk: 24 hexadecimal digits of its content's hash, and a nonce.
func chunkName(data []byte, nonce string) string {
	return Hash(sha256.Sum256(data)).String()[:24] + nonce
}

func isChunkName(name string) bool {
	return len(name) == 40 && strings.Trim(name, "0123456789abcdef") == ""
}

// SessionPK is the partition of all documents of a session. The service lets a partition
// hold 20 GB.
func SessionPK(sid string) string { return "s-" + sid }

// UserPK is the partition of the catalogue of a project of a user.
func UserPK(uid string) string { return "u-" + uid }
