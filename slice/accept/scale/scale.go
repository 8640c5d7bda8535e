package scale

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"

	"github.com/amplifier-go/sessionstorage/slice/accept"
)

var _ accept.Scaler = Picture

// most is the number of pixels of the largest picture that is decoded. Decoded, it takes 100 to
// 800 MB of memory, by its type; what is made of it, at most 8 bytes a pixel more.
const most = 100_000_000

// The errors that callers may branch on, with errors.Is.
var (
	ErrUnknown = errors.New("the picture is of a type that is not known here")
	ErrLarge   = errors.New("the picture has more than 100 million pixels")
	ErrWanted  = errors.New("no such picture can be made")
)

// formats are the types of pictures that are read.
var formats = []struct {
	kind, magic string
	config      func(io.Reader) (image.Config, error)
	decode      func(io.Reader) (image.Image, error)
}{
	{"image/png", "\x89PNG", png.DecodeConfig, png.Decode},
	{"image/jpeg", "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
	{"image/gif", "GIF8", gif.DecodeConfig, firstFrame},
	{"image/webp", "RIFF", webp.DecodeConfig, webp.Decode},
	{"image/bmp", "BM", bmp.DecodeConfig, bmp.Decode},
}

// Picture returns a PNG, JPEG, GIF, WebP or BMP as accept.Wanted says: a JPEG as a JPEG, others as
// a PNG, unless that has too many bytes. It keeps the proportions, makes it smaller
// only as far as it needs to, applies the orientation that a camera noted in a JPEG, and takes
// the first frame of one that moves. It decodes at most 100 million pixels, which take up to 8
// bytes each, and as much again for what it makes of them.
// The error Is [ErrUnknown], [ErrLarge] or [ErrWanted], or tells of damage.
func Picture(data []byte, want accept.Wanted) (made []byte, kind string, err error) {
	i := 0
	for i < len(formats) && !bytes.HasPrefix(data, []byte(formats[i].magic)) {
		i++
	}
	if i == len(formats) {
		return nil, "", ErrUnknown
	}
	format := formats[i]
	config, err := format.config(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("read the header of a picture: %w", err)
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > most/config.Height {
		return nil, "", ErrLarge
	}
	m, err := format.decode(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("read a picture: %w", err)
	}
	if format.kind == "image/jpeg" {
		return encode(m, orientation(data), []string{"image/jpeg", "image/png"}, want)
	}
	return encode(m, 1, []string{"image/png", "image/jpeg"}, want)
}

// encode writes a picture in the first of some types that does, smaller from try to try.
func encode(m image.Image, orientation int, kinds []string, want accept.Wanted) ([]byte, string, error) {
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return want.Types != nil && !slices.Contains(want.Types, kind) })
	side := max(m.Bounds().Dx(), m.Bounds().Dy())
	if want.Side > 0 {
		side = min(side, want.Side)
	}
	for ; side > 0 && len(kinds) > 0; side = side * 4 / 5 {
		small := turned(fitted(m, side), orientation)
		for _, kind := range kinds {
			var b bytes.Buffer
			var err error
			if kind == "image/png" {
				err = png.Encode(&b, small)
			} else {
				err = jpeg.Encode(&b, opaque(small), &jpeg.Options{Quality: 90})
			}
			if err != nil {
				return nil, "", fmt.Errorf("write a picture: %w", err)
			}
			if want.Bytes == 0 || b.Len() <= want.Bytes {
				return b.Bytes(), kind, nil
			}
		}
	}
	return nil, "", ErrWanted
}

// fitted returns a picture whose sides have at most that many pixels. Each pixel is the mean of
// those that it stands for. It takes no memory but for the result and a row.
func fitted(m image.Image, side int) image.Image {
	from := m.Bounds()
	w, h := int64(from.Dx()), int64(from.Dy())
	long := max(w, h)
	if long <= int64(side) {
		return m
	}
	toW, toH := max(1, w*int64(side)/long), max(1, h*int64(side)/long)
	small := image.NewRGBA(image.Rect(0, 0, int(toW), int(toH)))
	row, sums := image.NewRGBA(image.Rect(0, 0, int(w), 1)), make([]int64, 4*toW+4)
	add := func(share int64) {
		for x := range w {
			to, left, right := shares(x, w, toW)
			for c := range int64(4) {
				value := int64(row.Pix[4*x+c]) * share
				sums[4*to+c] += value * left
				sums[4*to+4+c] += value * right
			}
		}
	}
	for y := range h {
		draw.Draw(row, row.Bounds(), m, from.Min.Add(image.Pt(0, int(y))), draw.Src)
		to, upper, lower := shares(y, h, toH)
		add(upper)
		if (y+1)*toH < (to+1)*h {
			continue
		}
		for i, sum := range sums[:4*toW] {
			small.Pix[4*to*toW+int64(i)] = byte((sum + w*h/2) / (w * h))
		}
		clear(sums)
		add(lower)
	}
	return small
}

// shares returns which of fewer pixels pixel i of n is a part of, its share of that one, and its
// share of the next one. All shares of one add up to n.
func shares(i, n, fewer int64) (to, first, second int64) {
	to = i * fewer / n
	first = min((to+1)*n-i*fewer, fewer)
	return to, first, fewer - first
}

// opaque returns a picture on white, which JPEG needs.
func opaque(m image.Image) image.Image {
	if o, is := m.(interface{ Opaque() bool }); is && o.Opaque() {
		return m
	}
	whole := image.NewRGBA(m.Bounds())
	draw.Draw(whole, whole.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(whole, whole.Bounds(), m, m.Bounds().Min, draw.Over)
	return whole
}

// firstFrame reads the first frame of a GIF, where it stands on its screen.
func firstFrame(r io.Reader) (image.Image, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	config, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	frame, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	screen := image.NewNRGBA(image.Rect(0, 0, config.Width, config.Height))
	draw.Draw(screen, frame.Bounds(), frame, frame.Bounds().Min, draw.Src)
	return screen, nil
}
