package segment

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
)

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
