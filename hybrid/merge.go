package hybrid

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// clock returns the time of a file's change here, after all that it has seen.
func (v *visit) clock(f *localFile, next *tip.Tip) tip.HLC {
	return tip.Next(next.Files[f.name].Clock, f.stamp.Mtime, v.dev.id)
}

// mergeFile merges a file that both sides changed. Of one that has no members
// the later change wins, and the other stays beside the sync state.
func (v *visit) mergeFile(ctx context.Context, f *localFile, next *tip.Tip, box *outbox) error {
	theirs := next.Files[f.name]
	if err := v.load(ctx, f); err != nil {
		return err
	}
	content, err := v.unpack(ctx, theirs)
	if err != nil {
		return err
	}
	ours := tip.Version{Text: f.content, Clock: tip.HLC{Wall: f.stamp.Mtime.UnixMilli(), Device: v.dev.id}}
	var base []byte
	if known := v.st.Files[f.name]; known != nil {
		base = known.Base
	}
	merged, lost := content, []tip.Loss(nil)
	if f.name == sessiondir.Metadata {
		merged, lost = tip.MergeMetadata(base, ours, tip.Version{Text: content, Clock: theirs.Clock})
		merged = v.count(merged)
	} else if ours.Clock.Compare(theirs.Clock) > 0 {
		merged, lost = f.content, []tip.Loss{{Value: content, Clock: theirs.Clock}}
	} else {
		lost = []tip.Loss{{Value: f.content, Clock: ours.Clock}}
	}
	if v.estimate == nil {
		if err := v.keepLost(f.name, lost); err != nil {
			return err
		}
	}
	if !bytes.Equal(merged, content) {
		if err := v.giveFile(ctx, f, next, box, merged); err != nil {
			return err
		}
	}
	if !bytes.Equal(merged, f.content) {
		f.take = merged
	}
	return nil
}

// count sets the members that count messages, which neither side has right.
func (v *visit) count(metadata []byte) []byte {
	if _, ok := pyjson.Lookup(metadata, "turn_count"); !ok || v.main == nil || v.tip == nil {
		return metadata
	}
	turns := max(v.main.end().Turn, v.tip.Transcript.Turns)
	return pyjson.Splice(metadata, "turn_count", fmt.Append(nil, turns))
}

// keepLost keeps what lost a merge where people can find it.
func (v *visit) keepLost(name string, lost []tip.Loss) error {
	for _, l := range lost {
		sum := segment.Hash(sha256.Sum256(l.Value))
		file := v.sid + ".lost-" + l.Key + "-" + name + "-" + sum.Short()[:8]
		if len(l.Key) > 64 || !fs.ValidPath(file) || bytes.ContainsAny([]byte(l.Key), `/\:`) {
			file = v.sid + ".lost-" + name + "-" + sum.Short()[:8]
		}
		if err := v.states.write(file, l.Value); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) unpack(ctx context.Context, f tip.File) ([]byte, error) {
	content, err := f.Blob.Unpack(v.sid, func(pk, id string) ([]byte, error) {
		doc, err := v.link.read(ctx, pk, id, "")
		if err == nil && doc == nil {
			err = segment.ErrMissing
		}
		if err != nil {
			return nil, err
		}
		return doc.body, nil
	})
	return content, damaged(err)
}

// takeFile fetches the cloud's file.
func (v *visit) takeFile(ctx context.Context, f *localFile, theirs tip.File) error {
	content, err := v.unpack(ctx, theirs)
	if err == nil {
		f.take = append([]byte{}, content...)
	}
	return err
}

// summary is what lists show of a file.
func summary(name string, content []byte) []byte {
	if name != sessiondir.Metadata || pyjson.Check(content, pyjson.Strict) != nil {
		return nil
	}
	doc := []byte("{}")
	for _, member := range []string{"name", "bundle", "turn_count"} {
		if v, ok := pyjson.Lookup(content, member); ok && len(v) <= 256 && pyjson.KindOf(v) != pyjson.Object && pyjson.KindOf(v) != pyjson.Array {
			doc = pyjson.Splice(doc, member, v)
		}
	}
	return doc
}

func sum(content []byte) segment.Hash { return sha256.Sum256(content) }
