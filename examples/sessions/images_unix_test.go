//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// The questions to a terminal, and its answers.
const (
	asksKitty = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
	asksAll   = "\x1b[c"
	isKitty   = "\x1b_Gi=31;OK\x1b\\"
	isSixel   = "\x1b[?62;4;22c"
	isNeither = "\x1b[?64;1;22c"
)

// glass is a terminal of 100 columns and 40 rows of 10 × 20 pixels.
type glass struct {
	typed   string // before the program starts
	answer  string // to the questions
	after   string // is written when "ready" is shown
	vars    []string
	command string
	code    int
}

// show runs a command of the shell, which must end with the code, and returns all that the
// terminal is sent.
func (g glass) show(t *testing.T, home string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a program that hangs
	defer cancel()
	master, tty, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 100, X: 1000, Y: 800}))
	_, err = master.WriteString(g.typed)
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, "sh", "-c", g.command)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "AMPLIFIER_HOME=" + home, "AMPLIFIER_SESSION_STATE_HOME=" + home, "TERM=xterm", "PAGER=cat", "GORACE=atexit_sleep_ms=0"}, g.vars...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, tty.Close())
	var shown bytes.Buffer
	say := func(text string, to *string) {
		if *to != "" && strings.Contains(shown.String(), text) {
			_, err := master.WriteString(*to)
			require.NoError(t, err)
			*to = ""
		}
	}
	for part := make([]byte, 1<<16); ; {
		n, err := master.Read(part)
		if shown.Write(part[:n]); err != nil {
			break
		}
		say(asksAll, &g.answer)
		say("ready", &g.after)
	}
	_ = cmd.Wait()
	require.Equal(t, g.code, cmd.ProcessState.ExitCode(), "%q", shown.String())
	return shown.String()
}

// paint returns a picture of squares of four pixels, in colours that sixels have.
func paint(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x / 2 % 6 * 51), uint8(y / 2 % 6 * 51), uint8((x/2 + y/2) / 6 % 6 * 51), 255})
		}
	}
	return img
}

func encoded(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

// pictures makes a session: a prompt with the first file, and results of a tool with the others.
func pictures(t *testing.T, files ...[]byte) (home string) {
	t.Helper()
	home = t.TempDir()
	dir := filepath.Join(home, "projects", "p", "sessions", "pics")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	var rows strings.Builder
	for i, file := range files {
		block := fmt.Sprintf(`{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "%s"}}`, base64.StdEncoding.EncodeToString(file))
		if i == 0 {
			fmt.Fprintf(&rows, `{"role": "user", "content": [{"type": "text", "text": "look"}, %s]}`+"\n", block)
			continue
		}
		fmt.Fprintf(&rows, `{"role": "assistant", "content": "", "tool_calls": [{"id": "c%d", "tool": "shot", "arguments": {}}]}`+"\n", i)
		fmt.Fprintf(&rows, `{"role": "tool", "tool_call_id": "c%d", "content": [%s]}`+"\n", i, block)
	}
	rows.WriteString(`{"role": "assistant", "content": "The end."}` + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte(rows.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"session_id": "pics"}`), 0o600))
	return home
}

var (
	kittyImage = regexp.MustCompile(`\x1b_Gf=100,q=2,a=T(?:,m=1)?;([A-Za-z0-9+/=]+)\x1b\\(?:\x1b_Gq=2,m=[01];([A-Za-z0-9+/=]*)\x1b\\)*\r\n`)
	kittyPart  = regexp.MustCompile(`\x1b_G[^;]*;([^\x1b]*)\x1b\\`)
	sixelImage = regexp.MustCompile(`\x1bP0;1q([ -~]*)\x1b\\\r\n`)
)

// drawn returns the pictures among what a terminal is sent, and the rest of that.
func drawn(t *testing.T, shown string) (all []image.Image, rest string) {
	t.Helper()
	for _, one := range kittyImage.FindAllString(shown, -1) {
		var text strings.Builder
		for _, part := range kittyPart.FindAllStringSubmatch(one, -1) {
			require.LessOrEqual(t, len(part[1]), 4096)
			text.WriteString(part[1])
		}
		data, err := base64.StdEncoding.DecodeString(text.String())
		require.NoError(t, err)
		img, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		all = append(all, img)
	}
	for _, one := range sixelImage.FindAllStringSubmatch(shown, -1) {
		all = append(all, sixels(t, one[1]))
	}
	return all, sixelImage.ReplaceAllString(kittyImage.ReplaceAllString(shown, ""), "")
}

// sixelWord is a word of sixels: the size, a colour, a number of columns, or the end of a line.
var sixelWord = regexp.MustCompile(`"1;1;(\d+);(\d+)|#(\d+)(?:;2;(\d+);(\d+);(\d+))?|(?:!(\d+))?([?-~])|([$-])`)

// sixels decodes sixels. The decoder of x/ansi drops columns behind repeated ones.
func sixels(t *testing.T, text string) image.Image {
	t.Helper()
	require.Empty(t, sixelWord.ReplaceAllString(text, ""))
	var img *image.RGBA
	palette, colour := map[int]color.RGBA{}, 0
	x, top := 0, 0
	for _, word := range sixelWord.FindAllStringSubmatch(text, -1) {
		n := make([]int, 8)
		for i := range n[1:] {
			n[i+1], _ = strconv.Atoi(word[i+1])
		}
		switch {
		case word[1] != "":
			img = image.NewRGBA(image.Rect(0, 0, n[1], n[2]))
		case word[4] != "":
			palette[n[3]] = color.RGBA{uint8((n[4]*255 + 50) / 100), uint8((n[5]*255 + 50) / 100), uint8((n[6]*255 + 50) / 100), 255}
		case word[3] != "":
			colour = n[3]
		case word[8] != "":
			for range max(1, n[7]) {
				for y := range 6 {
					if (word[8][0]-'?')>>y&1 == 1 {
						img.SetRGBA(x, top+y, palette[colour])
					}
				}
				x++
			}
		case word[9] == "$":
			x = 0
		default:
			x, top = 0, top+6
		}
	}
	return img
}

// samePixels compares a picture that was drawn with one that has step pixels for each of its own.
func samePixels(t *testing.T, want, got image.Image, step int) {
	t.Helper()
	require.Equal(t, want.Bounds().Size().Div(step), got.Bounds().Size())
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			require.Equal(t, color.RGBAModel.Convert(want.At(x*step, y*step)), color.RGBAModel.Convert(got.At(x, y)), "%d, %d", x, y)
		}
	}
}

const showPics = "sessions show pics -T"

// TestImagesOnTerminal shows images on terminals that draw them, one as it is and one half as
// large, and on others, which get the lines alone.
func TestImagesOnTerminal(t *testing.T) {
	t.Parallel()
	small, large := paint(60, 31), paint(1200, 800)
	var photo bytes.Buffer
	require.NoError(t, jpeg.Encode(&photo, paint(16, 16), nil))
	home := pictures(t, encoded(t, small), encoded(t, large), photo.Bytes())
	question := "\r\x1b[K"
	lines := glass{answer: isNeither, command: showPics}.show(t, home)
	require.Equal(t, 1, strings.Count(lines, asksKitty+asksAll+question))
	lines = strings.ReplaceAll(lines, asksKitty+asksAll+question, "")
	require.Contains(t, lines, "[image 60 × 31]")
	require.Contains(t, lines, "[image 1,200 × 800]")
	require.NotContains(t, lines, "\x1b_")
	require.NotContains(t, lines, "\x1bP")
	for _, c := range []struct {
		name   string
		glass  glass
		images int
		asked  string
	}{
		{"kitty", glass{answer: isKitty + isNeither}, 3, asksKitty + asksAll},
		{"sixel", glass{answer: isSixel}, 3, asksAll},
		{"both", glass{answer: isKitty + isSixel}, 3, asksAll},
		{"kitty refuses", glass{answer: "\x1b_Gi=31;EINVAL:bad\x1b\\" + isNeither}, 0, asksAll},
		{"attributes begin with 4", glass{answer: "\x1b[?4;6c"}, 0, asksAll},
		{"never answers", glass{}, 0, asksAll},
		{"half an answer", glass{answer: "\x1b[?62;4"}, 0, asksAll},
		{"typed between", glass{answer: "ls" + isSixel}, 0, asksAll},
		{"garbage", glass{answer: "\x1b_Gi=31;OK" + isSixel}, 0, asksAll},
		{"in tmux", glass{answer: isSixel, vars: []string{"TMUX=/tmp/tmux,1,0"}}, 3, asksAll},
		{"in tmux elsewhere", glass{answer: isNeither, vars: []string{"TERM=tmux-256color"}}, 0, asksAll},
		{"in screen", glass{answer: isNeither, vars: []string{"TERM=screen"}}, 0, asksAll},
		{"console", glass{vars: []string{"TERM=linux"}}, 0, ""},
		{"pager", glass{vars: []string{"PAGER=sed -n p"}}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.glass.command = showPics
			shown := c.glass.show(t, home)
			if strings.HasPrefix(c.name, "in ") {
				require.NotContains(t, shown, asksKitty)
			}
			require.Equal(t, c.asked != "", strings.Contains(shown, asksAll))
			require.Contains(t, shown, c.asked)
			images, rest := drawn(t, shown)
			require.Equal(t, lines, strings.NewReplacer(asksKitty, "", asksAll+question, "").Replace(rest))
			require.Len(t, images, c.images)
			if c.images > 0 {
				samePixels(t, small, images[0], 1)
				samePixels(t, large, images[1], 2)
			}
		})
	}
}

// TestImagesSwitchedOff shows an image where nothing may be drawn: the terminal is asked nothing.
func TestImagesSwitchedOff(t *testing.T) {
	t.Parallel()
	home := pictures(t, encoded(t, paint(60, 31)))
	for name, g := range map[string]glass{
		"plain":         {command: showPics + " --plain"},
		"no colour":     {command: showPics + " --color=never"},
		"NO_COLOR":      {command: showPics, vars: []string{"NO_COLOR=1"}},
		"dumb":          {command: showPics + " --color=always", vars: []string{"TERM=dumb"}},
		"to a pipe":     {command: showPics + " --color=always | sed -n p"},
		"from nowhere":  {command: showPics + " </dev/null"},
		"from a pipe":   {command: "echo | " + showPics},
		"JSON":          {command: showPics + " --json"},
		"in background": {command: "set -m; " + showPics + " & wait"},
		"no such turn":  {command: "sessions show pics --turn=2", code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g.answer = isKitty + isSixel
			shown := g.show(t, home)
			require.NotContains(t, shown, asksAll)
			require.NotContains(t, shown, "\x1b_")
			if !strings.Contains(name, "turn") && name != "JSON" {
				require.Contains(t, shown, "[image 60 × 31]")
				require.Contains(t, shown, "The end.")
			}
		})
	}
}

// TestImagesLeaveTyping types before the question and behind the answer: the next program reads
// all of it. Ctrl-C in the place of an answer interrupts all programs in the foreground.
func TestImagesLeaveTyping(t *testing.T) {
	t.Parallel()
	home := pictures(t, encoded(t, paint(60, 31)))
	const next = showPics + `; echo ready; read line; echo "got $line."`
	for name, c := range map[string]struct {
		glass glass
		asked bool
	}{
		"a line before":   {glass{typed: "one line\n"}, false},
		"a part before":   {glass{typed: "one ", after: "line\n"}, false},
		"behind":          {glass{answer: isSixel + "one line\n"}, true},
		"after no answer": {glass{answer: isNeither, after: "one line\n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.glass.command = next
			shown := c.glass.show(t, home)
			require.Equal(t, c.asked, strings.Contains(shown, asksAll))
			require.Contains(t, shown, "got one line.")
		})
	}
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		shown := glass{answer: "\x03" + isSixel, command: `trap "echo trapped" INT; ` + showPics + `; true`}.show(t, home)
		require.Contains(t, shown, "trapped")
		require.NotContains(t, shown, "\x1bP")
	})
}

// TestImagesThatHarm shows files that would harm the terminal or this machine: no byte of theirs
// is sent, and one that unfolds to 64 million pixels is not drawn.
func TestImagesThatHarm(t *testing.T) {
	t.Parallel()
	good := encoded(t, paint(8, 8))
	text := []byte("tEXtComment\x00\x1b\\\x1b]0;evil\x07$(evil)")
	chunk := append([]byte{0, 0, 0, byte(len(text) - 4)}, text...)
	sum := crc32.ChecksumIEEE(text)
	chunk = append(chunk, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
	evil := bytes.Join([][]byte{good[:33], chunk, good[33:], []byte("\x1b\\\x1b]0;evil\x07")}, nil)
	var moving bytes.Buffer
	require.NoError(t, gif.Encode(&moving, image.NewPaletted(image.Rect(0, 0, 5, 5), color.Palette{color.Black, color.White}), nil))
	home := pictures(t, evil,
		encoded(t, image.NewPaletted(image.Rect(0, 0, 8192, 8192), color.Palette{color.Black})),
		good[:len(good)-20],
		[]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x07\x00\x00\x00\x00"),
		moving.Bytes())
	for _, answer := range []string{isKitty + isNeither, isSixel} {
		shown := glass{answer: answer, command: showPics}.show(t, home)
		images, rest := drawn(t, shown)
		require.Len(t, images, 2)
		samePixels(t, paint(8, 8), images[0], 1)
		require.Equal(t, image.Pt(5, 5), images[1].Bounds().Size())
		require.NotContains(t, shown, "evil")
		require.NotContains(t, shown, base64.StdEncoding.EncodeToString([]byte("evil"))[:5])
		require.NotContains(t, rest, "\x1bP")
		require.Equal(t, 1, strings.Count(rest, "\x1b_"), "the question alone")
		require.Contains(t, rest, "[image 8,192 × 8,192]")
		require.Contains(t, rest, "[image 8 × 8]")
	}
}
