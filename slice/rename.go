package slice

import (
	"context"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// RenameSession names session id as [sessionstore.Store.SetName] does with a manual name, so
// also while another program runs the session. It first copies the metadata, so that [Undo]
// brings the former name back. If the store syncs, copy and name are durable when
// RenameSession returns.
func RenameSession(ctx context.Context, st *sessionstore.Store, id, name string) (RenameReport, error) {
	report := RenameReport{Status: NoRenameNeeded}
	err := core.Of(st).Change(ctx, id, func(tx core.Tx) error {
		copied, err := (&change{ctx: ctx, st: st, id: id, tx: tx}).copyFiles(sessiondir.LabelRename, sessiondir.Metadata)
		if err != nil {
			return err
		}
		changed, err := tx.SetName(sessionstore.Naming{Name: name, Source: "manual"})
		if err == nil && !changed {
			return copied.drop(nil)
		}
		report = RenameReport{Renamed, copied.path(sessiondir.Metadata)}
		return copied.dropUnlessChanged(err)
	})
	if err != nil {
		return RenameReport{}, wrapError("rename", id, err)
	}
	return report, nil
}

// RenameReport describes the work of [RenameSession].
type RenameReport struct {
	Status     Status `json:"status"`      // Renamed or NoRenameNeeded
	BackupPath string `json:"backup_path"` // the copy of the metadata before the rename; empty: nothing was written
}

// rename brings back the name of the backup, and nothing else of it.
func (u *undoing) rename() (UndoReport, error) {
	files := contents{u.ctx, u.tx.Dir()}
	was, err := files.metadata(u.backup.Name)
	if err != nil {
		return UndoReport{}, err
	}
	if err := u.checkName(files); err != nil {
		return UndoReport{}, err
	}
	copied, err := u.copyFiles(u.label, sessiondir.Metadata)
	if err != nil {
		return UndoReport{}, err
	}
	if err := copied.dropUnlessChanged(u.tx.RestoreName(was)); err != nil {
		return UndoReport{}, err
	}
	name := was.Text("name")
	return UndoReport{Status: u.status(), Name: &name, BackupPath: copied.path(sessiondir.Metadata)}, nil
}

// checkName returns [ErrWentOn] unless the name is what the last change of the name in this
// package made: each such change increments the revision once.
func (u *undoing) checkName(files contents) error {
	if u.force {
		return nil
	}
	at := slices.IndexFunc(u.all, func(b Backup) bool { return b.file == sessiondir.Metadata })
	before, err := files.metadata(u.all[at].Name)
	if err != nil {
		return err
	}
	now, err := files.metadata(sessiondir.Metadata)
	if err != nil {
		return err
	}
	was, _ := before.Int("name_revision")
	if is, _ := now.Int("name_revision"); is > was+1 {
		return ErrWentOn
	}
	return nil
}
