package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
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

// pushFiles merges the small files of both sides, stores what is new, and
// notes what is to be taken. Without push it only notes.
func (v *work) pushFiles(ctx context.Context, next *head.Head, uploads *uploader, push bool) (changed bool, err error) {
	for _, f := range v.local.files {
		theirs, remote := next.Files[f.name]
		if remote {
			f.clock = theirs.Clock
		}
		known := v.st.Files[f.name]
		here := f.there && (known == nil || known.Sum != f.sum)
		there := remote && (known == nil || known.Sum != theirs.Sum || !f.there && !f.large && (v.recreates || f.name == sessiondir.Metadata))
		switch {
		case f.large && there:
			err = v.keep(f)
		case f.large:
		case f.bad: // it never leaves, and the next write here mends it, if its backup is good
			if _, err = v.Store.Metadata(ctx, v.id); remote && errors.Is(err, sessionstore.ErrCorrupt) {
				err = v.cloud.takeFile(ctx, f, theirs)
			} else {
				err = nil
			}
		case f.there && remote && f.sum == theirs.Sum:
			if err := v.local.inStep(ctx, f); err != nil {
				return changed, err
			}
		case there && !here:
			err = v.cloud.takeFile(ctx, f, theirs)
		case here && !there && push:
			err = v.giveFile(ctx, f, next, uploads, nil)
		case here && there && push:
			err = v.mergeFile(ctx, f, next, uploads)
		}
		changed = changed || f.gave
		if err = v.cloud.lack(f.name, err); err != nil {
			return changed, fmt.Errorf("sync %s: %w", f.name, err)
		}
	}
	return changed, nil
}

// keep takes note of a file that is too large to go and that another device
// changed, too: it stays here as it is.
func (v *work) keep(f *localFile) error {
	v.cloud.lacking = append(v.cloud.lacking, fmt.Errorf("%s: the file here is larger than %d bytes and stays; the cloud has another one", f.name, v.LargestFile))
	return nil
}

// mergeFile merges a file that both sides changed. Of one that has no members
// the later change wins, and the other stays beside the sync state.
func (v *work) mergeFile(ctx context.Context, f *localFile, next *head.Head, uploads *uploader) error {
	theirs := next.Files[f.name]
	if err := v.local.load(ctx, f); err != nil {
		return err
	}
	content, err := v.cloud.link.File(ctx, v.sid, theirs)
	if err != nil {
		return err
	}
	ours := head.Version{Text: f.content, Clock: head.HLC{Wall: f.stamp.Mtime.UnixMilli(), Device: v.Device.ID}}
	var base []byte
	if known := v.st.Files[f.name]; known != nil {
		base = known.Base
	}
	merged, lost := content, []head.Loss(nil)
	if f.name == sessiondir.Metadata {
		merged, lost = head.MergeMetadata(base, ours, head.Version{Text: content, Clock: theirs.Clock})
		merged = v.count(merged)
	} else if ours.Clock.Compare(theirs.Clock) > 0 {
		merged, lost = f.content, []head.Loss{{Value: content, Clock: theirs.Clock}}
	} else {
		lost = []head.Loss{{Value: f.content, Clock: ours.Clock}}
	}
	if err := v.keepLost(ctx, f, lost, ours.Clock); err != nil {
		return err
	}
	if !bytes.Equal(merged, content) {
		if err := v.giveFile(ctx, f, next, uploads, merged); err != nil {
			return err
		}
	}
	if !bytes.Equal(merged, f.content) {
		f.take = merged
	}
	return nil
}

// count sets the members that count messages, which neither side has right.
func (v *work) count(metadata []byte) []byte {
	if _, ok := pyjson.Lookup(metadata, "turn_count"); !ok || v.local.main == nil || v.cloud.head == nil {
		return metadata
	}
	turns := max(v.local.main.End().Turn, v.cloud.head.Transcript.Turns)
	return pyjson.Splice(metadata, "turn_count", fmt.Append(nil, turns))
}

// keepLost keeps what lost a merge where people can find it. What was written here,
// at the time ours, is kept as it stands here.
func (v *work) keepLost(ctx context.Context, f *localFile, lost []head.Loss, ours head.HLC) error {
	if len(lost) == 0 {
		return nil
	}
	own, err := v.local.raw(ctx, f)
	if err != nil {
		return err
	}
	for _, l := range lost {
		value := l.Value
		if l.Clock == ours && l.Key == "" {
			value = own
		} else if here, ok := pyjson.Lookup(own, l.Key); ok && l.Clock == ours {
			value = here
		}
		if err := v.States.Write(replica.LostFile(v.sid, l.Key, f.name, sha256.Sum256(value)), value); err != nil {
			return err
		}
	}
	v.Log.Warn("a change lost a merge; it is kept for 90 days in .sessionstore/sync", "session", v.id, "file", v.sid+".lost-*")
	return nil
}
