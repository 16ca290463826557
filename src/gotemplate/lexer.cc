// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gotext/quote.h"
#include "gotext/unicode.h"

namespace pintle::gotemplate {
namespace {

constexpr std::string_view kLeft = "{{";
constexpr std::string_view kRight = "}}";
constexpr std::string_view kLeftComment = "/*";
constexpr std::string_view kRightComment = "*/";
constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::size_t kTrimMarkLength = 2;  // The left mark is "- ", and the right mark is " -".

constexpr auto kKeywords = std::to_array<std::pair<std::string_view, TokenType>>({
    {"block", TokenType::kBlockKeyword},
    {"break", TokenType::kBreakKeyword},
    {"continue", TokenType::kContinueKeyword},
    {"define", TokenType::kDefineKeyword},
    {"else", TokenType::kElseKeyword},
    {"end", TokenType::kEndKeyword},
    {"if", TokenType::kIfKeyword},
    {"nil", TokenType::kNilKeyword},
    {"range", TokenType::kRangeKeyword},
    {"template", TokenType::kTemplateKeyword},
    {"with", TokenType::kWithKeyword},
    {"true", TokenType::kBool},
    {"false", TokenType::kBool},
});

bool IsSpace(char32_t rune) { return rune == ' ' || rune == '\t' || rune == '\r' || rune == '\n'; }

bool IsAlphanumeric(char32_t rune) {
  return rune != gotext::kEndOfText && (rune == '_' || gotext::IsLetter(rune) || gotext::IsDigit(rune));
}

// Returns whether a text behind the left delimiter begins with the trim mark "- ".
bool HasLeftTrimMark(std::string_view text) {
  return text.size() >= 2 && text[0] == '-' && IsSpace(static_cast<unsigned char>(text[1]));
}

std::size_t CountLines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Formats like Go's %#U: U+002D '-'.
std::string FormattedRune(char32_t rune) {
  std::string shown = fmt::format("U+{:04X}", static_cast<unsigned>(rune));
  if (!gotext::IsPrintable(rune)) return shown;
  shown += " '";
  gotext::AppendRune(rune, shown);
  return shown += '\'';
}

}  // namespace

std::string FormattedToken(const Token& token) {
  if (token.type == TokenType::kEnd) return "EOF";
  if (token.type == TokenType::kError) return std::string(token.text);
  if (token.type >= TokenType::kBlockKeyword) return fmt::format("<{}>", token.text);
  if (token.text.size() > 10) return gotext::Quoted(gotext::FirstRunes(token.text, 10)) + "...";
  return gotext::Quoted(token.text);
}

Token Lexer::Next() {
  for (;;) {
    bool is_found = false;
    switch (state_) {
      case State::kText:
        is_found = LexText();
        break;
      case State::kLeftDelimiter:
        is_found = LexLeftDelimiter();
        break;
      case State::kInside:
        is_found = LexInside();
        break;
      case State::kRightDelimiter:
        is_found = LexRightDelimiter();
        break;
      case State::kEnded:
        is_found = true;
        break;
    }
    if (is_found) return token_;
  }
}

char32_t Lexer::Peek() const { return IsAtEnd() ? gotext::kEndOfText : gotext::FirstRune(Rest()).value; }

char32_t Lexer::Take() {
  if (IsAtEnd()) return gotext::kEndOfText;
  const gotext::Rune rune = gotext::FirstRune(Rest());
  position_ += rune.bytes;
  if (rune.value == '\n') ++line_;
  return rune.value;
}

bool Lexer::Accept(std::string_view characters) {
  if (IsAtEnd() || characters.find(input_[position_]) == std::string_view::npos) return false;
  ++position_;
  return true;
}

void Lexer::AcceptRun(std::string_view characters) {
  while (Accept(characters)) {
  }
}

// Returns whether a name may end here: .X.Y are two fields, but $x+2 is an error.
bool Lexer::IsAtTerminator() const {
  const char32_t rune = Peek();
  if (rune == gotext::kEndOfText || IsSpace(rune)) return true;
  if (rune < 0x80 && std::string_view(".,|:()").find(static_cast<char>(rune)) != std::string_view::npos) return true;
  return Rest().starts_with(kRight);
}

// Returns whether the trim mark " -" and the right delimiter come next.
bool Lexer::HasRightTrimMark() const {
  const std::string_view rest = Rest();
  return rest.size() >= 2 && IsSpace(static_cast<unsigned char>(rest[0])) && rest[1] == '-' &&
         rest.substr(2).starts_with(kRight);
}

bool Lexer::IsAtRightDelimiter() const { return Rest().starts_with(kRight) || HasRightTrimMark(); }

Token Lexer::Emit(TokenType type) {
  token_ = {type, start_, input_.substr(start_, position_ - start_), start_line_};
  start_ = position_;
  start_line_ = line_;
  return token_;
}

Token Lexer::Fail(std::string error) {
  error_ = std::move(error);
  token_ = {TokenType::kError, start_, error_, start_line_};
  state_ = State::kEnded;
  return token_;
}

void Lexer::Ignore() {
  line_ += CountLines(input_.substr(start_, position_ - start_));
  start_ = position_;
  start_line_ = line_;
}

void Lexer::SkipSpace() {
  const std::size_t end = Rest().find_first_not_of(kSpaces);
  position_ = end == std::string_view::npos ? input_.size() : position_ + end;
}

bool Lexer::LexText() {
  const std::size_t length = Rest().find(kLeft);
  const bool has_action = length != std::string_view::npos;
  std::string_view text = Rest().substr(0, length);
  const std::size_t end = position_ + text.size();
  state_ = has_action ? State::kLeftDelimiter : State::kEnded;
  if (has_action && HasLeftTrimMark(input_.substr(end + kLeft.size()))) {
    text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  }
  const bool is_token = !text.empty();
  if (is_token) {
    line_ += CountLines(text);
    position_ += text.size();
    Emit(TokenType::kText);
  }
  position_ = end;
  Ignore();
  if (is_token) {
    // The next call returns the end.
    if (!has_action) state_ = State::kText;
    return true;
  }
  if (!has_action) Emit(TokenType::kEnd);
  return !has_action;
}

bool Lexer::LexLeftDelimiter() {
  position_ += kLeft.size();
  const std::size_t mark_length = HasLeftTrimMark(Rest()) ? kTrimMarkLength : 0;
  if (Rest().substr(mark_length).starts_with(kLeftComment)) {
    position_ += mark_length;
    Ignore();
    return LexComment();
  }
  Emit(TokenType::kLeftDelimiter);
  position_ += mark_length;
  Ignore();
  open_parentheses_ = 0;
  state_ = State::kInside;
  return true;
}

bool Lexer::LexComment() {
  const std::size_t end = Rest().substr(kLeftComment.size()).find(kRightComment);
  if (end == std::string_view::npos) {
    Fail("unclosed comment");
    return true;
  }
  position_ += kLeftComment.size() + end + kRightComment.size();
  if (!IsAtRightDelimiter()) {
    Fail("comment ends before closing delimiter");
    return true;
  }
  const bool is_trimmed = HasRightTrimMark();
  position_ += (is_trimmed ? kTrimMarkLength : 0) + kRight.size();
  if (is_trimmed) SkipSpace();
  Ignore();
  state_ = State::kText;
  return false;
}

bool Lexer::LexRightDelimiter() {
  const bool is_trimmed = HasRightTrimMark();
  if (is_trimmed) {
    position_ += kTrimMarkLength;
    Ignore();
  }
  position_ += kRight.size();
  Emit(TokenType::kRightDelimiter);
  if (is_trimmed) {
    SkipSpace();
    Ignore();
  }
  state_ = State::kText;
  return true;
}

bool Lexer::LexInside() {
  if (IsAtRightDelimiter()) {
    if (open_parentheses_ > 0) {
      Fail("unclosed left paren");
      return true;
    }
    return LexRightDelimiter();
  }
  const char32_t rune = Peek();
  if (IsSpace(rune)) return LexSpace();
  LexSymbol(rune);
  return true;
}

bool Lexer::LexSpace() {
  std::size_t spaces = 0;
  for (; IsSpace(Peek()); ++spaces) Take();
  // The last space may belong to the trim mark of a delimiter.
  --position_;
  if (HasRightTrimMark()) {
    if (input_[position_] == '\n') --line_;
    if (spaces == 1) return LexRightDelimiter();
  } else {
    ++position_;
  }
  Emit(TokenType::kSpace);
  return true;
}

Token Lexer::LexSymbol(char32_t rune) {
  if (rune == gotext::kEndOfText) return Fail("unclosed action");
  if (rune == '+' || rune == '-' || (rune >= '0' && rune <= '9')) return LexNumber();
  if (IsAlphanumeric(rune)) return LexIdentifier();
  Take();
  switch (rune) {
    case '=':
      return Emit(TokenType::kAssign);
    case ':':
      return Take() == '=' ? Emit(TokenType::kDeclare) : Fail("expected :=");
    case '|':
      return Emit(TokenType::kPipe);
    case '"':
      return LexQuoted('"', TokenType::kString, "unterminated quoted string");
    case '`':
      return LexRawString();
    case '$':
      return LexFieldOrVariable(TokenType::kVariable);
    case '\'':
      return LexQuoted('\'', TokenType::kCharacterConstant, "unterminated character constant");
    case '.':
      if (IsAtEnd() || (Rest().front() >= '0' && Rest().front() <= '9')) {
        --position_;
        return LexNumber();
      }
      return LexFieldOrVariable(TokenType::kField);
    case '(':
      ++open_parentheses_;
      return Emit(TokenType::kLeftParenthesis);
    case ')':
      if (open_parentheses_ == 0) return Fail("unexpected right paren");
      --open_parentheses_;
      return Emit(TokenType::kRightParenthesis);
    default:
      if (rune < 0x80 && gotext::IsPrintable(rune)) return Emit(TokenType::kCharacter);
      return Fail("unrecognized character in action: " + FormattedRune(rune));
  }
}

Token Lexer::LexIdentifier() {
  while (IsAlphanumeric(Peek())) Take();
  if (!IsAtTerminator()) return Fail("bad character " + FormattedRune(Peek()));
  const std::string_view word = input_.substr(start_, position_ - start_);
  for (const auto& [name, type] : kKeywords) {
    if (word != name) continue;
    const bool is_function = (type == TokenType::kBreakKeyword && !keywords_.has_break) ||
                             (type == TokenType::kContinueKeyword && !keywords_.has_continue);
    return Emit(is_function ? TokenType::kIdentifier : type);
  }
  return Emit(TokenType::kIdentifier);
}

// Continues after the . or the $.
Token Lexer::LexFieldOrVariable(TokenType type) {
  if (IsAtTerminator()) return Emit(type == TokenType::kVariable ? type : TokenType::kDot);
  while (IsAlphanumeric(Peek())) Take();
  if (!IsAtTerminator()) return Fail("bad character " + FormattedRune(Peek()));
  return Emit(type);
}

// Continues after the opening quote.
Token Lexer::LexQuoted(char quote, TokenType type, const char* error) {
  for (;;) {
    char32_t rune = Take();
    const bool is_escape = rune == '\\';
    if (is_escape) rune = Take();
    if (rune == gotext::kEndOfText || rune == '\n') return Fail(error);
    if (!is_escape && rune == static_cast<char32_t>(quote)) return Emit(type);
  }
}

Token Lexer::LexRawString() {
  for (;;) {
    const char32_t rune = Take();
    if (rune == gotext::kEndOfText) return Fail("unterminated raw quoted string");
    if (rune == '`') return Emit(TokenType::kRawString);
  }
}

// Also accepts some texts that are not numbers; ReadNumber() or ReadComplex() refuses them.
Token Lexer::LexNumber() {
  const auto fail = [&] {
    return Fail("bad number syntax: " + gotext::Quoted(input_.substr(start_, position_ - start_)));
  };
  if (!ScanNumber()) return fail();
  if (Peek() != '+' && Peek() != '-') return Emit(TokenType::kNumber);
  // This is a complex number, such as 1+2i.
  if (!ScanNumber() || input_[position_ - 1] != 'i') return fail();
  return Emit(TokenType::kComplex);
}

bool Lexer::ScanNumber() {
  Accept("+-");
  std::string_view digits = "0123456789_";
  std::string_view exponent = "eE";
  if (Accept("0")) {
    if (Accept("xX")) {
      digits = "0123456789abcdefABCDEF_";
      exponent = "pP";
    } else if (Accept("oO")) {
      digits = "01234567_";
      exponent = "";
    } else if (Accept("bB")) {
      digits = "01_";
      exponent = "";
    }
  }
  AcceptRun(digits);
  if (Accept(".")) AcceptRun(digits);
  if (Accept(exponent)) {
    Accept("+-");
    AcceptRun("0123456789_");
  }
  Accept("i");
  if (!IsAlphanumeric(Peek())) return true;
  Take();
  return false;
}

}  // namespace pintle::gotemplate
