package slice

import (
	"cmp"
	"context"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// RenameSession names session id as [sessionstore.Store.SetName] does with a manual name, so
// also while another program runs the session. It first copies the metadata, so that [Undo]
// brings the former name back; where there is neither that file nor its backup, there is nothing to undo. If the store syncs, copy and name are durable when
// RenameSession returns.
func RenameSession(ctx context.Context, st *sessionstore.Store, id, name string) (RenameReport, error) {
	report := RenameReport{Status: NoRenameNeeded}
	err := core.Of(st).Change(ctx, id, func(tx core.Tx) error {
		copied, err := (&change{ctx: ctx, st: st, id: id, tx: tx, force: true}).copyFiles(sessiondir.LabelRename, sessiondir.Metadata)
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
	BackupPath string `json:"backup_path"` // the copy of the metadata before the rename; empty: nothing was written, or there were no metadata
}

// rename brings back the name of the backup, and nothing else of it. Each change of the name
// increments name_revision, so a higher one than the last change here made is of another
// program.
func (u *undoing) rename(files contents) (UndoReport, error) {
	was, err := files.metadata(u.backup.Name)
	if err != nil {
		return UndoReport{}, err
	}
	last := u.all[slices.IndexFunc(u.all, func(b Backup) bool { return b.file == sessiondir.Metadata && !files.torn(b) })]
	before, err := files.metadata(last.Name)
	md, merr := u.tx.Metadata()
	if err = cmp.Or(err, merr); err != nil {
		return UndoReport{}, err
	}
	revision, _ := md.Int("name_revision")
	if of, _ := before.Int("name_revision"); revision > of+1 && !u.force {
		return UndoReport{}, ErrWentOn
	}
	f := fields{md: md}
	for _, member := range []string{"name", "name_source", "name_generated_at"} {
		if f.copy(was, member, true); was.Text(member) == "" {
			f.md.Delete(member)
		}
	}
	f.set("name_revision", revision+1)
	f.set("name_updated_at", pytime.Format(core.Of(u.st).Now().UTC()))
	copied, err := u.copyFiles(u.label, sessiondir.Metadata)
	if err = cmp.Or(err, f.err); err != nil {
		return UndoReport{}, err
	}
	if err := copied.dropUnlessChanged(u.tx.SetMetadata(f.md)); err != nil {
		return UndoReport{}, err
	}
	name := was.Text("name")
	return UndoReport{Status: u.status(), Name: &name, BackupPath: copied.path(sessiondir.Metadata)}, nil
}
