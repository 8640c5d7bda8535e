package web

import (
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// filePolicy is the policy of an image: opened by itself, it runs and loads nothing.
const filePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

// file answers with an image of a message. Its type follows from its first bytes, and not
// from what the session says. All other files are shown by name and size alone.
func (s *Server) file(w http.ResponseWriter, r *request) error {
	shot, n, err := r.shotAt()
	if err != nil {
		return err
	}
	m, err := r.read().message(r.Context(), shot, n)
	if err != nil {
		return err
	}
	all := conversation.Files(m)
	i, err := strconv.Atoi(r.PathValue("i"))
	if err != nil || i < 0 || i >= len(all) || !all[i].Image {
		return fmt.Errorf("image %q of message %d: %w", r.PathValue("i"), n, fs.ErrNotExist)
	}
	data, err := all[i].Data()
	if err != nil {
		return &failure{http.StatusUnprocessableEntity, kinds[http.StatusUnprocessableEntity], "the image is damaged: it is no base64"}
	}
	kind := strings.TrimPrefix(all[i].Media, "image/")
	h := w.Header()
	h.Set("Content-Type", all[i].Media)
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": fmt.Sprintf("message-%d-%d.%s", n+1, i+1, kind)}))
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // the reader may be gone
	return nil
}
