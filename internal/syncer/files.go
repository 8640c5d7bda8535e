package syncer

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// inStep notes that both sides have the file as it stands.
func (l *local) inStep(ctx context.Context, f *localFile) error {
	if known := l.st.Files[f.name]; known != nil && known.Sum == f.sum && known.Clock == f.clock {
		return nil
	}
	if err := l.load(ctx, f); err != nil {
		return err
	}
	l.know(f, f.content, f.sum)
	return nil
}

// know notes base as what both sides have, where the file here has the sum
// seen.
func (s *session) know(f *localFile, base []byte, seen segment.Hash) {
	k := &replica.KnownFile{Sum: sha256.Sum256(base), Seen: seen, File: f.stamp, At: time.Now(), Clock: f.clock, Forms: f.forms}
	if f.name == sessiondir.Metadata {
		k.Base = base
	}
	if s.st.Files == nil {
		s.st.Files = map[string]*replica.KnownFile{}
	}
	s.st.Files[f.name] = k
}

// giveFile stores content, or the file as it stands here.
func (v *work) giveFile(ctx context.Context, f *localFile, next *head.Head, uploads *uploader, content []byte) error {
	if content == nil {
		if err := v.local.load(ctx, f); err != nil {
			return err
		}
		content = f.content
	}
	blob, docs := segment.Pack(v.sid, content, v.Random.Name(8))
	if err := uploads.take(ctx, docs); err != nil {
		return err
	}
	if next.Files == nil {
		next.Files = map[string]head.File{}
	}
	if _, replaces := next.Files[f.name]; replaces || f.clock == (head.HLC{}) {
		f.clock = v.clock(f, next)
	}
	next.Files[f.name] = head.File{Blob: blob, Clock: f.clock, Summary: head.Summary(f.name, content)}
	f.gave = true
	return nil
}

// clock returns the time of a file's change here, after all that it has seen.
func (s *session) clock(f *localFile, next *head.Head) head.HLC {
	return head.Next(next.Files[f.name].Clock, f.stamp.Mtime, s.Device.ID)
}

// takeFile fetches the cloud's file.
func (c *cloud) takeFile(ctx context.Context, f *localFile, theirs head.File) error {
	content, err := c.link.File(ctx, c.sid, theirs)
	if err == nil {
		f.take = append([]byte{}, content...)
	}
	return err
}
