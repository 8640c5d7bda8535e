package scale

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/bmp"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// corner returns a picture that is blue but for its upper left quarter, which is red.
func corner(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{0, 0, 255, 255}
			if x < w/2 && y < h/2 {
				c = color.NRGBA{255, 0, 0, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

// encoded returns what an encoder writes.
func encoded(t *testing.T, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, encode(&b))
	return b.Bytes()
}

// made scales a picture, and decodes the result.
func made(t *testing.T, data []byte, want accept.Wanted) (m image.Image, kind string) {
	t.Helper()
	out, kind, err := Picture(data, want)
	require.NoError(t, err)
	m, format, err := image.Decode(bytes.NewReader(out))
	require.NoError(t, err)
	require.Equal(t, "image/"+format, kind)
	if want.Bytes > 0 {
		require.LessOrEqual(t, len(out), want.Bytes)
	}
	return m, kind
}

// red reports whether a part of a picture is red.
func red(m image.Image, x, y int) bool {
	r, _, b, _ := m.At(x, y).RGBA()
	return r > b
}

var web = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

func TestPicture(t *testing.T) {
	t.Parallel()
	m := corner(400, 100)
	one := image.NewPaletted(m.Bounds(), palette.Plan9)
	for y := range 100 {
		for x := range 400 {
			one.Set(x, y, m.At(x, y))
		}
	}
	part := one.SubImage(image.Rect(0, 0, 200, 50)).(*image.Paletted)
	for name, c := range map[string]struct {
		data []byte
		kind string
	}{
		"png":  {encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) }), "image/png"},
		"jpeg": {encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, m, nil) }), "image/jpeg"},
		"bmp":  {encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, m) }), "image/png"},
		"gif that moves": {encoded(t, func(b *bytes.Buffer) error {
			return gif.EncodeAll(b, &gif.GIF{Image: []*image.Paletted{one, part}, Delay: []int{1, 1}})
		}), "image/png"},
	} {
		small, kind := made(t, c.data, accept.Wanted{Types: web, Side: 200})
		require.Equal(t, c.kind, kind, name)
		require.Equal(t, image.Rect(0, 0, 200, 50), small.Bounds(), name)
		require.True(t, red(small, 20, 10), name)
		require.False(t, red(small, 180, 40), name)
		same, _ := made(t, c.data, accept.Wanted{Types: web, Side: 1000})
		require.Equal(t, image.Rect(0, 0, 400, 100), same.Bounds(), "%s is made no larger", name)
		_, kind = made(t, c.data, accept.Wanted{Types: []string{"image/jpeg"}})
		require.Equal(t, "image/jpeg", kind)
	}
	// A WebP of one pixel, from the examples of its container's specification.
	webp, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	require.NoError(t, err)
	_, kind := made(t, webp, accept.Wanted{Types: web})
	require.Equal(t, "image/png", kind)
}

// TestColors keeps the colors of pictures of other models, and what is transparent in a PNG.
func TestColors(t *testing.T) {
	t.Parallel()
	m := corner(40, 40)
	for y := range 20 {
		for x := 20; x < 40; x++ {
			m.SetNRGBA(x, y, color.NRGBA{}) // the upper right is transparent
		}
	}
	for name, to := range map[string]draw.Image{
		"16 bits":     image.NewNRGBA64(m.Bounds()),
		"palette":     image.NewPaletted(m.Bounds(), color.Palette{color.Transparent, color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 255}}),
		"many colors": image.NewRGBA(m.Bounds()),
	} {
		draw.Draw(to, to.Bounds(), m, image.Point{}, draw.Src)
		data := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, to) })
		for _, side := range []int{0, 20} {
			small, _ := made(t, data, accept.Wanted{Types: web, Side: side})
			w := small.Bounds().Dx()
			require.True(t, red(small, w/4, w/4), name)
			require.False(t, red(small, w/4, w*3/4), name)
			_, _, _, alpha := small.At(w*3/4, w/4).RGBA()
			require.Zero(t, alpha, name)
			small, _ = made(t, data, accept.Wanted{Types: []string{"image/jpeg"}, Side: side})
			r, g, b, _ := small.At(w*3/4, w/4).RGBA()
			require.Greater(t, min(r, g, b), uint32(0xf000), "%s: what is transparent is white", name)
		}
	}
	gray := image.NewGray(image.Rect(0, 0, 8, 8))
	small, _ := made(t, encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, gray, nil) }), accept.Wanted{Types: web, Side: 4})
	r, g, b, _ := small.At(1, 1).RGBA()
	require.Less(t, max(r, g, b), uint32(0x1000))
}

// TestBytes makes a picture smaller until its bytes fit.
func TestBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewNRGBA(image.Rect(0, 0, 300, 300))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
	}
	data := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })
	small, kind := made(t, data, accept.Wanted{Types: web, Bytes: 100_000})
	require.Equal(t, "image/jpeg", kind)
	require.Equal(t, 300, small.Bounds().Dx(), "as a JPEG it fits")
	small, _ = made(t, data, accept.Wanted{Types: web, Bytes: 5_000})
	require.Less(t, small.Bounds().Dx(), 100)
	_, _, err := Picture(data, accept.Wanted{Types: web, Bytes: 10})
	require.ErrorIs(t, err, ErrWanted)
	_, _, err = Picture(data, accept.Wanted{Types: []string{"image/heic"}})
	require.ErrorIs(t, err, ErrWanted)
}

// TestOrientation turns a picture as the camera was held.
func TestOrientation(t *testing.T) {
	t.Parallel()
	raw := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, corner(64, 32), nil) })
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		for n, at := range [9]image.Point{{0, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {1, 0}, {1, 1}, {0, 1}} {
			tiff := order.AppendUint32(order.AppendUint16([]byte(order.String()[:1]+order.String()[:1]), 42), 8)
			tiff[0], tiff[1] = 'M', 'M'
			if order == binary.AppendByteOrder(binary.LittleEndian) {
				tiff[0], tiff[1] = 'I', 'I'
			}
			tiff = order.AppendUint16(tiff, 1)
			tiff = order.AppendUint16(order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, 0x0112), 3), 1), uint16(n))
			exif := append([]byte("Exif\x00\x00"), append(tiff, 0, 0, 0, 0, 0, 0)...)
			segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(exif)+2))
			m, _ := made(t, append(append(segment, exif...), raw[2:]...), accept.Wanted{Types: web})
			w, h := 64, 32
			if n >= 5 {
				w, h = h, w
			}
			require.Equal(t, image.Rect(0, 0, w, h), m.Bounds(), n)
			require.True(t, red(m, at.X*(w-1), at.Y*(h-1)), "orientation %d", n)
			require.False(t, red(m, (1-at.X)*(w-1), (1-at.Y)*(h-1)), "orientation %d", n)
		}
	}
	for n := range raw {
		require.Equal(t, 1, orientation(raw[:n]))
	}
}

// TestAverage makes of each pixel the mean of those that it stands for, in little memory.
func TestAverage(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	board := image.NewGray(image.Rect(0, 0, 9000, 900))
	for i := range board.Pix {
		board.Pix[i] = byte(255 * ((i + i/9000) % 2))
	}
	data := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, board) })
	for _, side := range []int{8000, 4500, 3000, 7} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, _, err := Picture(data, accept.Wanted{Types: web, Side: side})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), side)
		m, err := png.Decode(bytes.NewReader(out))
		require.NoError(t, err)
		require.Equal(t, side, m.Bounds().Dx())
		sum := 0
		for y := range m.Bounds().Dy() {
			for x := range side {
				gray, _, _, _ := m.At(x, y).RGBA()
				sum += int(gray >> 8)
				if side == 4500 || side == 7 {
					require.InDelta(t, 127, gray>>8, 1)
				}
			}
		}
		require.InDelta(t, 127.5, float64(sum)/float64(side*m.Bounds().Dy()), 1, side)
	}
	for _, size := range []image.Point{{1, 50}, {50, 1}, {51, 17}, {1000, 3}} {
		m := image.NewNRGBA(image.Rectangle{Max: size})
		draw.Draw(m, m.Bounds(), image.NewUniform(color.NRGBA{10, 200, 30, 255}), image.Point{}, draw.Src)
		small, _ := made(t, encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) }), accept.Wanted{Types: web, Side: 13})
		for y := range small.Bounds().Dy() {
			for x := range small.Bounds().Dx() {
				require.Equal(t, color.NRGBA{10, 200, 30, 255}, color.NRGBAModel.Convert(small.At(x, y)))
			}
		}
	}
}

// TestOrientationCostsLittle turns a picture when it has been made smaller.
func TestOrientationCostsLittle(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	raw := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(image.Rect(0, 0, 3000, 2000)), nil) })
	cost := func(data []byte) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, _ := made(t, data, accept.Wanted{Types: web, Side: 300})
		runtime.ReadMemStats(&after)
		require.Equal(t, 300, max(m.Bounds().Dx(), m.Bounds().Dy()))
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00")
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(exif)+2))
	require.Less(t, cost(slices.Concat(segment, exif, raw[2:])), cost(raw)+4<<20)
}

// TestRefused does not decode what is too large, or is none.
func TestRefused(t *testing.T) {
	t.Parallel()
	data := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, corner(20, 20)) })
	large := bytes.Clone(data)
	binary.BigEndian.PutUint32(large[16:], 20_000)
	binary.BigEndian.PutUint32(large[20:], 20_000)
	_, _, err := Picture(large, accept.Wanted{Types: web})
	require.Error(t, err) // its checksum is another
	_, _, err = Picture(data[:len(data)/2], accept.Wanted{Types: web})
	require.Error(t, err)
	for _, none := range []string{"", "<svg/>", "\x00\x00\x00\x18ftypheic"} {
		_, _, err = Picture([]byte(none), accept.Wanted{Types: web})
		require.ErrorIs(t, err, ErrUnknown)
	}
	chunk := func(kind string, content ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(content))), content...)
	}
	extended := chunk("VP8X", 0, 0, 0, 0, 9, 0, 0, 9, 0, 0) // of 10 x 10, but for its only frame
	for _, frame := range [][]byte{chunk("VP8L", 0x2f, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0), chunk("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0xff, 0x3f, 0xff, 0x3f)} {
		webp := slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(4+len(extended)+len(frame))), []byte("WEBP"), extended, frame)
		_, _, err = Picture(webp, accept.Wanted{Types: web})
		require.Error(t, err) // the frame is not decoded
	}
	wide := encoded(t, func(b *bytes.Buffer) error {
		return gif.Encode(b, image.NewPaletted(image.Rect(0, 0, 1, 1), palette.Plan9), nil)
	})
	binary.LittleEndian.PutUint16(wide[6:], 60_000)
	binary.LittleEndian.PutUint16(wide[8:], 60_000)
	_, _, err = Picture(wide, accept.Wanted{Types: web})
	require.ErrorIs(t, err, ErrLarge)
}

// TestFixScales has accept mend a conversation with this package.
func TestFixScales(t *testing.T) {
	t.Parallel()
	data := base64.StdEncoding.EncodeToString(encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, corner(8100, 40)) }))
	m, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + data + `"}}]}`))
	require.NoError(t, err)
	target := accept.Target{Scale: Picture}
	fixed, err := target.Fix([]sessionstore.Message{m})
	require.NoError(t, err)
	require.Empty(t, target.Check(fixed.Messages))
	require.Contains(t, string(fixed.Messages[0].AppendTo(nil)), `"media_type": "image/png"`)
}
