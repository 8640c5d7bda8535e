package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

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
