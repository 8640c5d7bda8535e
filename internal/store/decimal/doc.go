// Package decimal adds decimal numbers as Python's decimal module does in its
// default context: 28 significant digits, rounded half to even, exponents up to
// 999,999. Texts come out as Python writes them, trailing zeros and all.
//
// It holds no more than costs need: numbers that are not negative, their sum,
// their order and their text. It is pure, and linear in the number of digits.
package decimal
