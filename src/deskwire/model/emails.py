"""What counts as an e-mail address, decided by its form alone."""

from email_validator import EmailNotValidError, validate_email


def parse_email(text: str) -> str:
    """The address as typed, without the blanks around it; ValueError says what is wrong with a text."""
    address = text.strip()
    try:
        # `strict` bounds the part before the @ at 64 characters, `test_environment` admits .test.
        validate_email(address, strict=True, check_deliverability=False, test_environment=True)
    except EmailNotValidError as problem:
        raise ValueError(f"must be an e-mail address such as ann@example.com: {problem}") from problem
    return address
