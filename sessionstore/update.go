package sessionstore

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/pyyaml"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// UpdateMetadata hands the metadata on disk to edit, writes what edit made of
// it, and returns that, secrets not redacted. Other calls that write the session
// wait meanwhile. When a tool that takes no lock writes the metadata meanwhile,
// edit is called again with what that tool wrote. When edit returns an error,
// UpdateMetadata returns that error and writes nothing. Damaged metadata is
// replaced, and kept aside, as by [Store.Save]; edit is then given the
// reference's placeholder.
func (st *Store) UpdateMetadata(ctx context.Context, id string, edit func(*Metadata) error) (Metadata, error) {
	var md Metadata
	err := st.write(ctx, "update metadata of", id, openExisting, func(tx *transaction) error {
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
		m := tx.metadata()
		if m.unread != nil {
			return m.unread
		}
		content, err := edited(&m)
		if err != nil {
			return err
		}
		return tx.saveMetadata(&m, content, edited)
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
	return st.write(ctx, "save config of", id, openOrCreate, func(tx *transaction) error {
		content, err := pyyaml.Append([]byte("---\n"), config.object())
		if err != nil {
			return fmt.Errorf("encode config: %w", err)
		}
		content = append(content, "---\n\nConfig snapshot for session "+id+"\n"...)
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err = tx.replace(sessiondir.Config, commit.Replacement{
			Time:   time.Now(),
			Write:  func(out io.Writer) error { _, err := out.Write(content); return err },
			Rotate: func() (bool, error) { return true, nil },
		})
		return err
	})
}
