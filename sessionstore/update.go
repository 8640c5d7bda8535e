package sessionstore

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/pyyaml"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// UpdateMetadata hands the metadata on disk to edit, writes what edit made of
// it, and returns that, secrets not redacted. No other write to the session
// comes between; if one does that takes no lock, edit is called again. An error of edit is returned and nothing is written. Damaged
// metadata is replaced, and kept aside, as by [Store.Save]; edit is then given
// the reference's placeholder.
func (st *Store) UpdateMetadata(ctx context.Context, id string, edit func(*Metadata) error) (Metadata, error) {
	var md Metadata
	err := st.write(ctx, "update metadata of", id, mustExist, func(w *writing) error {
		edited := func(m *metadataFile) ([]byte, error) {
			md = m.md
			if err := edit(&md); err != nil {
				return nil, err
			}
			content, err := md.file(st.opts.Portable)
			if err != nil {
				return nil, fmt.Errorf("encode metadata: %w", err)
			}
			return content, ctx.Err()
		}
		m := w.metadata()
		content, err := edited(&m)
		if err != nil {
			return err
		}
		return w.saveMetadata(&m, content, edited)
	})
	if err != nil {
		return Metadata{}, err
	}
	return md, nil
}

// SaveConfig writes config as the session's config.md, YAML between two lines
// of dashes, byte for byte as the reference does. The session's directory is
// made when there is none. Nothing is redacted.
func (st *Store) SaveConfig(ctx context.Context, id string, config Metadata) error {
	return st.write(ctx, "save config of", id, mayMake, func(w *writing) error {
		content, err := pyyaml.Append([]byte("---\n"), config.object())
		if err != nil {
			return fmt.Errorf("encode config: %w", err)
		}
		content = append(content, "---\n\nConfig snapshot for session "+id+"\n"...)
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.replace(sessiondir.Config, time.Now(), func(out io.Writer) error {
			_, err := out.Write(content)
			return err
		}, func() (atomicfile.Keep, error) { return w.dir.Retire(sessiondir.Config, sessiondir.Stamp{}, w.sync()) })
	})
}
