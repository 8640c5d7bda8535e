//go:build unix

package cli

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

const (
	askTime    = time.Second // ends the wait for a terminal that never answers; a later answer would be typed text
	maxDecoded = 16 << 20    // pixels of an image that is decoded
	maxSixels  = 1000        // pixels of a side, where xterm cuts sixels off
)

// answer matches the bytes of a terminal up to the end of its answer: typed ones, whether it
// knows kitty's protocol, and its attributes, of which 4 means sixels.
var answer = regexp.MustCompile(`(?s)^(.*?)(?:\x1b_Gi=31;(OK)?[^\x1b]*\x1b\\)?\x1b\[\?\d+((?:;\d+)*)c$`)

// drawer returns a function that returns the text that shows an image on the terminal, or "".
// Before the first image, which must be at the beginning of a line, it asks the terminal how.
// No byte of a file reaches the terminal: an image is decoded and encoded anew.
//
// drawer returns nil where nothing is drawn and nothing asked: without colour, in a pager, and
// on terminals that would show the question.
func (a *app) drawer() func(conversation.File) string {
	in, out, name := terminalFile(a.stdin), terminalFile(a.stdout), a.env("TERM")
	if in == nil || out == nil || a.Paged() || a.plain || !a.Colour() || name == "" || name == "dumb" || name == "linux" {
		return nil
	}
	query := ansi.RequestPrimaryDeviceAttributes + "\r" + ansi.EraseLineRight // of a question that is shown after all
	if a.env("TMUX") == "" && a.env("STY") == "" && !strings.HasPrefix(name, "tmux") && !strings.HasPrefix(name, "screen") {
		query = ansi.KittyGraphics([]byte("AAAA"), "i=31", "s=1", "v=1", "a=q", "t=d", "f=24") + query // tmux takes it for a title
	}
	known := sync.OnceValue(func() [][]byte { return answer.FindSubmatch(a.ask(in, out, query)) })
	return func(f conversation.File) string {
		if !f.Image || f.Width > maxDecoded/f.Height {
			return ""
		}
		said := known()
		if said == nil || len(said[1]) > 0 || len(said[2]) == 0 && !strings.Contains(string(said[3])+";", ";4;") {
			return ""
		}
		data, _ := f.Data()
		img, _, err := image.Decode(bytes.NewReader(data))
		size, bad := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ)
		if err != nil || bad != nil || size.Col == 0 {
			return ""
		}
		return drawn(img, size, len(said[2]) > 0)
	}
}

// drawn returns the text that draws an image in a terminal of a size. It fills at most half of
// the rows, and all columns but one: in the last one, the cursor would leave the line.
func drawn(img image.Image, size *unix.Winsize, inKitty bool) string {
	if size.Xpixel == 0 || size.Ypixel == 0 { // they are not known
		size.Xpixel, size.Ypixel = 8*size.Col, 16*size.Row
	}
	width, height := int(size.Xpixel-size.Xpixel/size.Col), int(size.Ypixel/2)
	var text bytes.Buffer // which takes all, without an error
	if inKitty {
		o := &kitty.Options{Action: kitty.TransmitAndPut, Transmission: kitty.Direct, Format: kitty.PNG, Quiet: 2, Chunk: true}
		_ = kitty.EncodeGraphics(&text, shrink(img, width, height), o)
		return text.String() + "\n"
	}
	_ = new(sixel.Encoder).Encode(&text, shrink(img, min(width, maxSixels), min(height, maxSixels)))
	return ansi.SixelGraphics(0, 1, 0, text.Bytes()) + "\n"
}

// shrink returns an image that is no larger than width and height. Each pixel is the average
// of the pixels in its place.
func shrink(img image.Image, width, height int) image.Image {
	from := img.Bounds()
	w, h := from.Dx(), from.Dy()
	if w > width {
		w, h = max(1, width), max(1, h*width/w)
	}
	if h > height {
		w, h = max(1, w*height/h), max(1, height)
	}
	sums := make([][5]uint64, w*h)
	for y := range from.Dy() {
		for x := range from.Dx() {
			sum := &sums[y*h/from.Dy()*w+x*w/from.Dx()]
			r, g, b, a := img.At(from.Min.X+x, from.Min.Y+y).RGBA()
			for i, v := range [...]uint32{r, g, b, a, 1} {
				sum[i] += uint64(v)
			}
		}
	}
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	for i, s := range sums {
		small.SetRGBA64(i%w, i/w, color.RGBA64{uint16(s[0] / s[4]), uint16(s[1] / s[4]), uint16(s[2] / s[4]), uint16(s[3] / s[4])})
	}
	return small
}

// ask writes a query and returns what comes up to its answer. It asks nothing, and reads
// nothing, where another program is in the foreground and where something was typed ahead:
// that is for the next program. Keys between the question and the answer are lost, but for Ctrl-C.
func (a *app) ask(in, out *os.File, query string) (got []byte) {
	fd := int(in.Fd())
	for _, f := range []*os.File{in, out} {
		if group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
			return nil
		}
	}
	state, err := term.MakeRaw(fd)
	if err != nil {
		return nil
	}
	defer func() {
		_ = term.Restore(fd, state) // as it was a moment ago
		if bytes.IndexByte(got, 3) >= 0 {
			_ = unix.Kill(0, unix.SIGINT) // as the terminal sends it for Ctrl-C
		}
	}()
	if ready(fd, 0) {
		return nil
	}
	_, _ = out.WriteString(query)
	key := make([]byte, 1)
	for end := time.Now().Add(askTime); a.ctx.Err() == nil && time.Now().Before(end) && !answer.Match(got); {
		if ready(fd, askTime/50) {
			n, _ := in.Read(key)
			got = append(got, key[:n]...)
		}
	}
	return got
}

// ready waits for a terminal that can be read.
func ready(fd int, wait time.Duration) bool {
	set, limit := new(unix.FdSet), unix.NsecToTimeval(wait.Nanoseconds())
	set.Set(fd)
	n, err := unix.Select(fd+1, set, nil, nil, &limit)
	return err == nil && n > 0
}
