package syncer

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

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
		there := remote && (known == nil || known.Sum != theirs.Sum || !f.there && !f.large && (v.Recreate || f.name == sessiondir.Metadata))
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
