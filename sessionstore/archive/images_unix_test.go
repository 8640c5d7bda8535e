//go:build unix

package archive_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
)

const talk = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c002"

// pictured returns a store with a session of one image, and that image.
func pictured(t *testing.T, gray uint8) (*sessionstore.Store, []byte) {
	t.Helper()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	var picture bytes.Buffer
	drawn := image.NewGray(image.Rect(0, 0, 8, 8))
	drawn.SetGray(1, 1, color.Gray{gray})
	require.NoError(t, png.Encode(&picture, drawn))
	m, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + base64.StdEncoding.EncodeToString(picture.Bytes()) + `"}}]}`))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), talk, m))
	return st, picture.Bytes()
}

func toMarkdown(t *testing.T, st *sessionstore.Store, name string) error {
	t.Helper()
	return archive.WriteFile(t.Context(), name, st, []string{talk}, &archive.WriteOptions{Format: archive.Markdown})
}

// TestImagesFollowNothing has something in the place of the folder of images, or of an image: the export ends
// with an error that names it, and changes it in no way.
func TestImagesFollowNothing(t *testing.T) {
	t.Parallel()
	st, _ := pictured(t, 1)
	const folder, file = "talk.images", "talk.images/message-1-1.png"
	for what, lay := range map[string]func(t *testing.T, dir string) (entry string){
		"a symlink to a folder": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink("victims", filepath.Join(dir, folder)))
			return folder
		},
		"a symlink out": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink(filepath.Join(dir, "victims"), filepath.Join(dir, folder)))
			return folder
		},
		"a symlink to nothing": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink("nothing", filepath.Join(dir, folder)))
			return folder
		},
		"a file for the folder": func(t *testing.T, dir string) string {
			require.NoError(t, os.WriteFile(filepath.Join(dir, folder), []byte("mine"), 0o600))
			return folder
		},
		"a FIFO for the folder": func(t *testing.T, dir string) string {
			require.NoError(t, syscall.Mkfifo(filepath.Join(dir, folder), 0o600))
			return folder
		},
		"a symlink for the image": func(t *testing.T, dir string) string {
			require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
			require.NoError(t, os.Symlink("../victims/message-1-1.png", filepath.Join(dir, file)))
			return file
		},
		"a symlink to nothing for the image": func(t *testing.T, dir string) string {
			require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
			require.NoError(t, os.Symlink("../nothing", filepath.Join(dir, file)))
			return file
		},
		"a FIFO for the image": func(t *testing.T, dir string) string {
			require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
			require.NoError(t, syscall.Mkfifo(filepath.Join(dir, file), 0o600))
			return file
		},
		"a folder for the image": func(t *testing.T, dir string) string {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, file), 0o700))
			return file
		},
		"a file that no export wrote": func(t *testing.T, dir string) string {
			require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("mine"), 0o600))
			return file
		},
		"an image of another document": func(t *testing.T, dir string) string {
			require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("mine"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "talk.md"), []byte("# Mine, with message-1-1.png\n"), 0o600))
			return file
		},
		"another user's folder": func(t *testing.T, dir string) string {
			testenv.Need(t, os.Geteuid() == 0, "only root makes a folder of another user")
			require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o777))
			require.NoError(t, os.Chown(filepath.Join(dir, folder), 4711, 4711))
			return folder
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "victims"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "victims", "message-1-1.png"), []byte("victim"), 0o600))
			entry := lay(t, dir)
			was := entriesOf(t, dir)
			err := toMarkdown(t, st, filepath.Join(dir, "talk.md"))
			require.ErrorIs(t, err, fs.ErrExist)
			require.ErrorContains(t, err, filepath.Join(dir, entry))
			require.ErrorContains(t, err, "another name")
			require.Equal(t, was, entriesOf(t, dir))
		})
	}
}

// entriesOf returns what is below a directory, with the content of files.
func entriesOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		text := []byte{}
		if e.Type().IsRegular() {
			text, err = os.ReadFile(path)
		}
		all = append(all, path+" "+e.Type().String()+" "+string(text))
		return err
	}))
	return all
}

// TestImagesOfFormerExport exports again: the images of the former document are replaced, and keep their
// modes; what else is in the folder stays. After an export that was interrupted, its images are taken for its own.
func TestImagesOfFormerExport(t *testing.T) {
	t.Parallel()
	first, was := pictured(t, 1)
	second, now := pictured(t, 2)
	dir := t.TempDir()
	name, file := filepath.Join(dir, "talk.md"), filepath.Join(dir, "talk.images", "message-1-1.png")
	require.NoError(t, toMarkdown(t, first, name))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "talk.images", "notes.txt"), []byte("mine"), 0o600))
	require.NoError(t, os.Chmod(file, 0o644))
	require.NoError(t, os.Link(file, filepath.Join(dir, "linked.png")))
	require.NoError(t, toMarkdown(t, second, name))
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, now, got)
	fi, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o644), fi.Mode())
	linked, err := os.ReadFile(filepath.Join(dir, "linked.png"))
	require.NoError(t, err)
	require.Equal(t, was, linked, "another name of the file")
	require.FileExists(t, filepath.Join(dir, "talk.images", "notes.txt"))

	require.NoError(t, os.Remove(name))
	require.NoError(t, toMarkdown(t, second, name), "the same images")
	require.NoError(t, os.Remove(name))
	require.ErrorIs(t, toMarkdown(t, first, name), fs.ErrExist)
	require.NoFileExists(t, name)
}

// TestImagesBesideALink writes the file to which the named symlink leads, and its images beside the link.
func TestImagesBesideALink(t *testing.T) {
	t.Parallel()
	st, picture := pictured(t, 1)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "deep"), 0o700))
	require.NoError(t, os.Symlink("deep/to.md", filepath.Join(dir, "talk.md")))
	for range 2 {
		require.NoError(t, toMarkdown(t, st, filepath.Join(dir, "talk.md")))
	}
	require.FileExists(t, filepath.Join(dir, "deep", "to.md"))
	got, err := os.ReadFile(filepath.Join(dir, "talk.images", "message-1-1.png"))
	require.NoError(t, err)
	require.Equal(t, picture, got)
}
